"""HTTP: one thin router a family of addresses, and what they share.

A request's way: `context` (id, times, metrics) -> `limits` (bytes) -> `auth` -> a router, which
reads its `body`, asks `embedding` for vectors and gives a `responses.Json`; what goes wrong on the
way becomes an answer in `problems`.
"""
