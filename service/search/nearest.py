"""The nearest documents where a document has several vectors: each once, by its best passage."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from service.inference.session import Vectors
from service.search.index import NO_KEY, VectorIndex
from service.search.snapshot import Keys, Snapshot

PASSAGES_EACH = 4
"""The first search asks for so many vectors a document that is wanted."""


def nearest_documents(
    index: VectorIndex,
    snapshot: Snapshot,
    queries: Vectors,
    k: int,
    selected: npt.NDArray[np.bool_] | None,
) -> tuple[Vectors, Keys]:
    """Return scores and vector keys, both [queries, at most k], of different documents.

    The search goes deeper until each query has its `k` documents or there are no more: a document
    of many near passages takes no other's place.

    Args:
        index: Of the vectors.
        snapshot: Of the same state of the store.
        queries: float32 [queries, dimension].
        k: Documents wanted.
        selected: bool [rows of the index]: only these; all where None.
    """
    depth = PASSAGES_EACH * k
    while True:
        scores, keys = index.search(queries, depth, selected=selected, stored=snapshot.vectors)
        owners = snapshot.owners(key for key in np.unique(keys).tolist() if key != NO_KEY)
        columns = [_first_of_each(row, owners)[:k] for row in keys.tolist()]
        exhausted = keys.shape[1] < depth
        if exhausted or all(len(row) == k for row in columns):
            return _picked(scores, keys, columns)
        depth *= 4


def _first_of_each(keys: list[int], owners: dict[int, int]) -> list[int]:
    """Return the columns in which a document stands for the first time."""
    seen: set[int] = set()
    columns = []
    for column, key in enumerate(keys):
        if key != NO_KEY and owners[key] not in seen:
            seen.add(owners[key])
            columns.append(column)
    return columns


def _picked(scores: Vectors, keys: Keys, columns: list[list[int]]) -> tuple[Vectors, Keys]:
    width = max(map(len, columns), default=0)
    best_scores = np.zeros((len(columns), width), dtype=np.float32)
    best_keys = np.full((len(columns), width), NO_KEY, dtype=np.int64)
    for row, chosen in enumerate(columns):
        best_scores[row, : len(chosen)] = scores[row, chosen]
        best_keys[row, : len(chosen)] = keys[row, chosen]
    return best_scores, best_keys
