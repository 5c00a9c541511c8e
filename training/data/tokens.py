"""The token ids of every sentence of a corpus, in one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from service.text.tokenizer import Tokenizer
from training.progress import QUIET, Progress

_CHUNK = 20_000


@dataclass(frozen=True, slots=True)
class TokenTable:
    """Sentence i has the ids `ids[offsets[i]:offsets[i + 1]]`.

    Attributes:
        ids: int32 [tokens of all sentences].
        offsets: int64 [sentences + 1].
    """

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Tokens of each sentence."""
        return np.diff(self.offsets)

    def gather(
        self, sentences: npt.NDArray[np.int64], *, longest: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return ids [N] in one row and lengths [B] of `sentences` [B], cut to `longest` tokens."""
        starts = self.offsets[sentences]
        lengths = np.minimum(self.offsets[sentences + 1] - starts, longest)
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
            starts - (ends - lengths), lengths
        )
        return self.ids[places].astype(np.int64), lengths

    def save(self, path: Path) -> None:
        """Write the table to `path` (npz)."""
        with path.open("wb") as file:
            np.savez(file, ids=self.ids, offsets=self.offsets)

    @classmethod
    def load(cls, path: Path) -> TokenTable:
        """Read what `save` wrote."""
        with np.load(path) as arrays:
            return cls(arrays["ids"], arrays["offsets"])


def tokenize(
    texts: Sequence[str],
    tokenizer: Tokenizer,
    *,
    max_tokens: int,
    progress: Progress = QUIET,
) -> TokenTable:
    """Return the ids of `texts`, made by the tokenizer that serves, cut to `max_tokens` each."""
    rows: list[npt.NDArray[np.int32]] = []
    lengths = np.zeros(len(texts), dtype=np.int64)
    for start in range(0, len(texts), _CHUNK):
        part = tokenizer.encode(texts[start : start + _CHUNK], max_tokens=max_tokens).tokens
        lengths[start : start + len(part)] = list(map(len, part))
        rows.append(np.fromiter((i for tokens in part for i in tokens), dtype=np.int32))
        progress.count(start + len(part), len(texts), "sentences")
    ids = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
    return TokenTable(ids, np.concatenate([[0], np.cumsum(lengths)]))
