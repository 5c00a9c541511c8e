"""Words in what is told to people."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """Return `noun` as it stands behind `count`: 1 document, 2 documents, 0 documents.

    >>> plural(1, "key"), plural(3_000, "key")
    ('key', 'keys')
    """
    return noun if count == 1 else f"{noun}s"
