"""What is made of documents that others may delete meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from service.errors import NotFoundError
from service.search.backend import CorpusBackend

T = TypeVar("T")


def made_of_those_there(
    corpus: CorpusBackend, ids: Sequence[str], make: Callable[[Sequence[str]], T]
) -> T:
    """Return what `make` makes of `ids`, less those that are deleted meanwhile.

    Args:
        corpus: Where they were found.
        ids: Different ones.
        make: Raises NotFoundError for an id that is not there.

    Raises:
        NotFoundError: `make` misses something else than a deleted document.
    """
    while True:
        try:
            return make(ids)
        except NotFoundError:
            there = corpus.find(ids)
            if len(there) == len(ids):
                raise
            ids = [id for id in ids if id in there]
