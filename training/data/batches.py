"""What the loop is fed: ragged batches of sentences, drawn without end and resumable exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from training.data.corpus import Corpus
from training.data.feature_tokens import SentenceIds
from training.data.mixing import Buckets
from training.data.tokens import TokenTable
from training.teacher import TeacherVectors


@dataclass(frozen=True, slots=True)
class Sentences:
    """B sentences, ragged: all their ids in one row.

    Encoders that work token by token take the row as it is; those that need a rectangle call
    `padded`. Nothing is ever computed on a pad by accident.

    Attributes:
        ids: int64 [N]; [N, F] where a token has several (`service.text.vocabulary`).
        lengths: int64 [B], summing to N.
    """

    ids: Tensor
    lengths: Tensor

    def __len__(self) -> int:
        return self.lengths.shape[0]

    @property
    def offsets(self) -> Tensor:
        """int64 [B], where each sentence begins in `ids`."""
        return self.lengths.cumsum(0) - self.lengths

    def padded(self, padding_id: int = 0) -> tuple[Tensor, Tensor]:
        """Return ids [B, S] or [B, S, F] and mask bool [B, S], padded on the right; S >= 1."""
        width = max(1, int(self.lengths.max())) if len(self) else 1
        columns = torch.arange(width, device=self.ids.device)
        mask = columns < self.lengths[:, None]
        ids = self.ids.new_full((*mask.shape, *self.ids.shape[1:]), padding_id)
        ids[mask] = self.ids
        return ids, mask

    @classmethod
    def from_padded(cls, ids: Tensor, mask: Tensor) -> Sentences:
        """Return the sentences in ids [B, S] where mask [B, S] is not zero."""
        keep = mask.bool()
        return cls(ids[keep], keep.sum(1))

    @classmethod
    def numbered(
        cls, table: SentenceIds, numbers: npt.NDArray[np.int64], *, longest: int
    ) -> Sentences:
        """Return the sentences of `numbers`, int64 [B], in `table`, cut to `longest` tokens."""
        ids, lengths = table.gather(numbers, longest=longest)
        return cls(torch.from_numpy(ids), torch.from_numpy(lengths))

    @classmethod
    def join(cls, first: Sentences, second: Sentences) -> Sentences:
        """Return both one after the other, so that one call encodes them."""
        return cls(torch.cat([first.ids, second.ids]), torch.cat([first.lengths, second.lengths]))

    def part(self, rows: range) -> Sentences:
        """Return the sentences of consecutive `rows`."""
        if len(rows) == len(self):
            return self
        ends = self.lengths.cumsum(0)
        first = int(ends[rows.start - 1]) if rows.start else 0
        last = int(ends[rows.stop - 1]) if rows.stop else 0
        return Sentences(self.ids[first:last], self.lengths[rows.start : rows.stop])

    def rows(self, numbers: Tensor) -> Sentences:
        """Return the sentences of `numbers`, int64 [R], in that order."""
        lengths = self.lengths[numbers]
        # How far each sentence's ids move.
        moved = self.offsets[numbers] - (lengths.cumsum(0) - lengths)
        places = torch.arange(int(lengths.sum()), device=self.ids.device)
        return Sentences(self.ids[places + moved.repeat_interleave(lengths)], lengths)

    def to(self, device: torch.device) -> Sentences:
        """Return a copy on `device`."""
        return Sentences(self.ids.to(device), self.lengths.to(device))


class Batch(Protocol):
    """What the loop needs to know of a batch."""

    @property
    def words(self) -> int:
        """Tokens that are encoded, for the speed that is shown."""
        ...

    def to(self, device: torch.device) -> Self:
        """Return a copy on `device`."""
        ...


B_co = TypeVar("B_co", bound=Batch, covariant=True)

State = dict[str, int | float | str | Tensor | dict[str, int]]
"""What a part must keep to go on exactly where it was; plain numbers and tensors only."""


class BatchSource(Protocol[B_co]):
    """Draws batches without end."""

    def draw(self) -> B_co:
        """Return the next batch."""
        ...

    def state_dict(self) -> State:
        """Return what is needed to draw the same batches again from here."""
        ...

    def load_state_dict(self, state: State) -> None:
        """Go on from where `state_dict` was taken."""
        ...


class CountedDraws:
    """Of batches that are functions of the seed and of how many were drawn: their number is all."""

    _drawn = 0

    def state_dict(self) -> State:
        """Return how many batches were drawn."""
        return {"drawn": self._drawn}

    def load_state_dict(self, state: State) -> None:
        """Go on from where `state_dict` was taken."""
        drawn = state["drawn"]
        if not isinstance(drawn, int):
            raise TypeError("not the state of these batches; this is a bug")
        self._drawn = drawn


@dataclass(frozen=True, slots=True)
class PairBatch:
    """B sentence pairs; no sentence twice, so every other sentence is a negative.

    Attributes:
        source: B sentences.
        target: Their translations.
        number: How many batches were drawn before.
        teacher: float32 [taught, D], the teacher's vectors for some of the pairs.
        taught: int64 [taught], which pairs those are.
    """

    source: Sentences
    target: Sentences
    number: int
    teacher: Tensor
    taught: Tensor

    @property
    def words(self) -> int:
        """Tokens of both sides."""
        return int(self.source.ids.shape[0] + self.target.ids.shape[0])

    def to(self, device: torch.device) -> PairBatch:
        """Return a copy on `device`."""
        return PairBatch(
            self.source.to(device),
            self.target.to(device),
            self.number,
            self.teacher.to(device),
            self.taught.to(device),
        )


class PairBatches:
    """Draws batches of pairs from weighted buckets, each walked through before it is repeated.

    The pivot's sentence stands second, as the corpus has it; of other pairs either may.

    Args:
        corpus: The pairs.
        tokens: The ids of its sentences.
        buckets: Which pairs, and what share of a batch each bucket gets.
        size: Pairs of a batch; a few fewer where a sentence would have come twice.
        longest: Tokens of a sentence; what is longer is cut.
        seed: Of everything that is drawn.
        pivot: The language that always stands second.
        teacher: Vectors of the pivot's sentences; None trains without a teacher.
    """

    def __init__(
        self,
        corpus: Corpus,
        tokens: TokenTable,
        buckets: Buckets,
        *,
        size: int,
        longest: int,
        seed: int,
        pivot: str = "en",
        teacher: TeacherVectors | None = None,
    ) -> None:
        self._corpus = corpus
        self._pivot = corpus.languages.index(pivot) if pivot in corpus.languages else -1
        self._tokens = tokens
        self._buckets = buckets
        self._size = size
        self._longest = longest
        self._teacher = teacher
        self._random = np.random.default_rng(seed)
        self._sizes = np.diff(buckets.starts)
        self._order = buckets.pairs.copy()
        for start, end in zip(buckets.starts[:-1], buckets.starts[1:], strict=True):
            self._random.shuffle(self._order[start:end])
        self._cursor = self._random.integers(0, self._sizes)
        self._drawn = 0

    def draw(self) -> PairBatch:
        """Return the next batch."""
        # A tenth more than needed, since sentences that come twice are left out below.
        counts = self._random.multinomial(int(self._size * 1.1) + 1, self._buckets.shares)
        rows = []
        for bucket in np.flatnonzero(counts):
            steps = self._cursor[bucket] + np.arange(counts[bucket])
            rows.append(self._buckets.starts[bucket] + steps % self._sizes[bucket])
            self._cursor[bucket] = (self._cursor[bucket] + counts[bucket]) % self._sizes[bucket]
        places = self._random.permutation(np.concatenate(rows))
        pairs = self._corpus.pairs[self._order[places]].astype(np.int64)
        pairs = pairs[_without_repeats(pairs)][: self._size]
        swapped = (self._random.random(len(pairs)) < 0.5) & ~self._has_pivot(pairs)
        pairs[swapped] = pairs[swapped, ::-1]
        batch = self._make(pairs[:, 0], pairs[:, 1])
        self._drawn += 1
        return batch

    def _has_pivot(self, pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        has: npt.NDArray[np.bool_] = self._corpus.language[pairs[:, 1]] == self._pivot
        return has

    def _make(self, source: npt.NDArray[np.int64], target: npt.NDArray[np.int64]) -> PairBatch:
        taught = np.empty(0, dtype=np.int64)
        vectors = np.empty((0, 0), dtype=np.float32)
        if self._teacher is not None:
            taught, vectors = self._teacher.of(target)
        return PairBatch(
            Sentences.numbered(self._tokens, source, longest=self._longest),
            Sentences.numbered(self._tokens, target, longest=self._longest),
            self._drawn,
            torch.from_numpy(vectors),
            torch.from_numpy(taught),
        )

    def state_dict(self) -> State:
        """Return the cursors and the state of the random numbers."""
        random = self._random.bit_generator.state
        return {
            "drawn": self._drawn,
            "cursor": torch.from_numpy(self._cursor.copy()),
            "random": {key: int(value) for key, value in random["state"].items()},
            "has_uint32": int(random["has_uint32"]),
            "uinteger": int(random["uinteger"]),
        }

    def load_state_dict(self, state: State) -> None:
        """Go on from where `state_dict` was taken."""
        cursor, drawn = state["cursor"], state["drawn"]
        if not isinstance(cursor, Tensor) or not isinstance(drawn, int):
            raise TypeError("not the state of these batches; this is a bug")
        self._cursor = cursor.numpy().copy()
        self._drawn = drawn
        self._random.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": state["random"],
            "has_uint32": state["has_uint32"],
            "uinteger": state["uinteger"],
        }


def _without_repeats(pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return which of pairs [B, 2] hold no sentence that came before, on either side."""
    first = np.zeros(len(pairs), dtype=bool)
    first[np.unique(pairs[:, 0], return_index=True)[1]] = True
    second = np.zeros(len(pairs), dtype=bool)
    second[np.unique(pairs[:, 1], return_index=True)[1]] = True
    across: npt.NDArray[np.bool_] = np.isin(pairs[:, 0], pairs[:, 1])
    kept: npt.NDArray[np.bool_] = first & second & ~across
    return kept
