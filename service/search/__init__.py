"""Search: documents and vectors of a corpus in SQLite (the truth), a FAISS index built from them.

A vector's way in: `corpora` -> `corpus` -> `store` (committed) -> `index` (searchable).
A query's way: `corpus` -> `filters` (to SQL) -> `index` (neighbours) -> `store` (their documents).
"""
