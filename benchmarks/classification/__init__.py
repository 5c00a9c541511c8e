"""Classification measured through the HTTP API: zero-shot transfer, few shots, documents, speed.

Commands are `python -m benchmarks.classification.NAME`, listed in the README of the folder above;
most take `--data DIR`, a data folder as docs/data.md has it. The figures of docs/classification.md
come from here.
"""
