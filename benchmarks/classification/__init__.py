"""Classification measured through the HTTP API: zero-shot transfer, few shots, documents, speed.

Each module is a command, `python -m benchmarks.classification.NAME --data DIR`; DIR is a data
folder as docs/data.md has it. The figures of docs/classification.md come from here.
"""
