"""HTTP: one thin router a family of addresses, and what they share.

A request's way: `context` (id, times, metrics) -> `hosts` (whose page sent it) -> `limits` (bytes)
-> `room` -> `direct` or FastAPI -> `auth` -> a router, which reads its `body`, asks `work` for
vectors and gives a `responses.Json`; what goes wrong on the way becomes an answer in `problems`.
"""
