"""Sentences of any language with the teacher's vectors of their English, in batches of like length.

No English side is encoded: its vector is the teacher's, and so are the vectors of the sentences
that it must not be taken for. That halves a step.

Batches are drawn in chunks whose numbers alone seed them, so that a run that goes on needs to know
no more than a chunk's number and a place in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from training.data.batches import Sentences, State
from training.data.corpus import Corpus
from training.data.mixing import Mixing, make_buckets
from training.data.scored_batches import ScoredBatch, ScoredBatches
from training.data.tokens import TokenTable
from training.teacher import TeacherVectors

_CHUNK = 16_384
"""Sentences that are sorted by length together."""


@dataclass(frozen=True, slots=True)
class TaughtBatch:
    """B sentences and where they shall lie.

    Attributes:
        sentences: Of any languages.
        targets: float32 [B, D], the teacher's vectors of their English.
        negatives: float32 [N, D], the teacher's vectors of other sentences.
        number: Of the batch, from 0.
        scored: Pairs that people have scored, where there are any.
    """

    sentences: Sentences
    targets: Tensor
    negatives: Tensor
    number: int
    scored: ScoredBatch | None = None

    @property
    def words(self) -> int:
        """Tokens that are encoded."""
        scored = self.scored.sentences.ids.shape[0] if self.scored is not None else 0
        return self.sentences.ids.shape[0] + scored

    def to(self, device: torch.device) -> Self:
        """Return a copy on `device`."""
        return type(self)(
            self.sentences.to(device),
            self.targets.to(device),
            self.negatives.to(device),
            self.number,
            self.scored.to(device) if self.scored is not None else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaughtPlan:
    """What a batch holds.

    Attributes:
        tokens: Most tokens, pads included.
        most: Most sentences.
        longest: Tokens that a sentence is cut to.
        negatives: Vectors of other sentences.
        english: Part of the sentences that are English, drawn by their length.
    """

    tokens: int
    most: int
    longest: int
    negatives: int
    english: float


class TaughtBatches:
    """Draws batches without end.

    Args:
        corpus: Whose sentences.
        tokens: Their ids.
        teacher: The teacher's vectors; pairs whose English has none are left out.
        mixing: How often which language and source is drawn.
        plan: What a batch holds.
        pivot: The teacher's language.
        scored: Makes the pairs with scores of a batch; None where there are none.
        seed: Of what is drawn.
    """

    def __init__(
        self,
        corpus: Corpus,
        tokens: TokenTable,
        teacher: TeacherVectors,
        mixing: Mixing,
        plan: TaughtPlan,
        *,
        pivot: str = "en",
        scored: ScoredBatches | None = None,
        seed: int,
    ) -> None:
        own = corpus.languages.index(pivot)
        filled = tokens.lengths > 0
        taught = (corpus.language == own) & (teacher.row >= 0) & filled
        usable = taught[corpus.pairs[:, 1]] & filled[corpus.pairs[:, 0]]
        self._pairs = corpus.pairs
        self._english = np.flatnonzero(taught)
        # A word alone teaches nothing of order, so a sentence counts as often as it has tokens.
        lengths = np.minimum(tokens.lengths[self._english], plan.longest)
        self._english_ends = np.cumsum(lengths, dtype=np.int64)
        self._buckets = make_buckets(corpus, mixing, usable)
        self._sizes = np.diff(self._buckets.starts)
        self._tokens = tokens
        self._teacher = teacher
        self._plan = plan
        self._scored = scored
        self._seed = seed
        self._chunk = self._place = self._drawn = 0
        self._ready: list[npt.NDArray[np.int64]] | None = None

    def draw(self) -> TaughtBatch:
        """Return the next batch."""
        if self._ready is None:
            self._ready = self._draw_chunk()
        examples = self._ready[self._place]
        self._place += 1
        batch = self._make(examples)
        self._drawn += 1
        if self._place == len(self._ready):
            self._chunk, self._place, self._ready = self._chunk + 1, 0, None
        return batch

    def _draw_chunk(self) -> list[npt.NDArray[np.int64]]:
        """Return batches of examples [B, 2]: a sentence, and the English one that it means."""
        random = np.random.default_rng([self._seed, self._chunk])
        ends = self._english_ends
        drawn = random.integers(0, ends[-1], int(_CHUNK * self._plan.english))
        english = self._english[np.searchsorted(ends, drawn, side="right")]
        counts = random.multinomial(_CHUNK - len(english), self._buckets.shares)
        rows = [
            self._buckets.starts[bucket] + random.integers(0, self._sizes[bucket], count)
            for bucket, count in enumerate(counts)
            if count
        ]
        examples = np.concatenate(
            [
                self._pairs[self._buckets.pairs[np.concatenate(rows)]].astype(np.int64),
                np.column_stack([english, english]),
            ]
        )
        # Of one length as they come by chance, so that a batch is not of one language.
        examples = random.permutation(examples)
        lengths = np.minimum(self._tokens.lengths[examples[:, 0]], self._plan.longest)
        order = np.argsort(lengths, kind="stable")
        batches = _cut(lengths[order], self._plan)
        return [examples[order[batches[i]]] for i in random.permutation(len(batches))]

    def _make(self, examples: npt.NDArray[np.int64]) -> TaughtBatch:
        random = np.random.default_rng([self._seed, self._chunk, self._place])
        _, targets = self._teacher.of(examples[:, 1])
        vectors = self._teacher.vectors
        others = random.integers(0, len(vectors), self._plan.negatives)
        return TaughtBatch(
            Sentences.numbered(self._tokens, examples[:, 0], longest=self._plan.longest),
            torch.from_numpy(targets),
            torch.from_numpy(vectors[others].astype(np.float32)),
            self._drawn,
            self._scored.batch(self._drawn) if self._scored is not None else None,
        )

    def state_dict(self) -> State:
        """Return where the next batch comes from."""
        return {"chunk": self._chunk, "place": self._place, "drawn": self._drawn}

    def load_state_dict(self, state: State) -> None:
        """Go on from where `state_dict` was taken."""
        chunk, place, drawn = (state[name] for name in ("chunk", "place", "drawn"))
        if not (isinstance(chunk, int) and isinstance(place, int) and isinstance(drawn, int)):
            raise TypeError("not the state of these batches; this is a bug")
        self._chunk, self._place, self._drawn, self._ready = chunk, place, drawn, None


def _cut(lengths: npt.NDArray[np.int64], plan: TaughtPlan) -> list[slice]:
    """Return the slices of ascending `lengths` that keep to the plan's limits."""
    slices: list[slice] = []
    start = 0
    while start < len(lengths):
        room = max(1, plan.tokens // int(lengths[start]))
        longest = int(lengths[min(start + room, len(lengths)) - 1])
        count = min(plan.most, max(1, plan.tokens // longest))
        slices.append(slice(start, start + count))
        start += count
    return slices
