"""Corpora on Milvus, a vector engine for many machines, through its official client.

The same contract as `service.search` keeps (`service.search.backend`); docs/scale.md says what
differs. A path instead of an address opens Milvus Lite, the embedded twin.
"""
