"""Which rows of an index a condition lets through, remembered between searches.

To ask the store takes time in proportion to the corpus, as a condition may look into each
document's metadata. But what is under a key never changes: a document that is replaced gets a new
one, and keys only grow. So an answer is good for ever but for documents that were written since,
which alone are asked for, and for removed ones, which the index leaves out by itself.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.search.filters import Condition
from service.search.index import VectorIndex
from service.search.snapshot import Keys, Snapshot

BUDGET_BYTES = 64 << 20
"""Of all answers that are kept; at a million vectors some ten that let half of them through."""


@dataclass(frozen=True, slots=True)
class _Answer:
    last_key: int  # documents up to here were asked for
    keys: Keys  # of vectors
    mask: npt.NDArray[np.bool_]  # of rows
    history: object  # of the index; the keys hold for no other
    layout: object  # of the index' rows; the mask holds for no other

    @property
    def bytes(self) -> int:
        return self.keys.nbytes + self.mask.nbytes


class Selections:
    """The answers for the corpus' latest conditions; threads may ask side by side."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._answers: OrderedDict[Condition, _Answer] = OrderedDict()

    def mask(
        self, index: VectorIndex, snapshot: Snapshot, condition: Condition
    ) -> npt.NDArray[np.bool_]:
        """Return bool [rows of `index`]: those that `condition` lets through.

        Args:
            index: Nobody changes it meanwhile.
            snapshot: Of the same state of the store.
            condition: Over a document.
        """
        with self._mutex:
            known = self._answers.get(condition)
        if known is None or known.history is not index.history:
            keys = snapshot.keys(condition)
            mask = index.mask_of(keys)
        elif known.last_key >= index.last_key and known.layout is index.layout:
            return known.mask
        else:
            keys, mask = _brought_up(known, index, snapshot, condition)
        answer = _Answer(index.last_key, keys, mask, index.history, index.layout)
        self._keep(condition, answer)
        return mask

    def _keep(self, condition: Condition, answer: _Answer) -> None:
        with self._mutex:
            self._answers[condition] = answer
            self._answers.move_to_end(condition)
            while len(self._answers) > 1 and self._bytes() > BUDGET_BYTES:
                self._answers.popitem(last=False)

    def _bytes(self) -> int:
        return sum(answer.bytes for answer in self._answers.values())


def _brought_up(
    known: _Answer, index: VectorIndex, snapshot: Snapshot, condition: Condition
) -> tuple[Keys, npt.NDArray[np.bool_]]:
    later = Condition(
        f"(documents.key > ? AND {condition.sql})", (known.last_key, *condition.parameters)
    )
    new = snapshot.keys(later)
    keys = np.concatenate([known.keys, new])
    if known.layout is not index.layout:
        return keys, index.mask_of(keys)
    mask = index.mask_of(new)
    mask[: len(known.mask)] |= known.mask
    return keys, mask
