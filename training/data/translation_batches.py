"""Translation batches: one training path each, to a budget, of sentences of like length."""

from __future__ import annotations

from dataclasses import dataclass

from training.data.batches import State
from training.data.parallel_rows import ParallelRows
from training.data.tokens import TokenTable
from training.data.translation import TranslationBatch
from training.paths import Mixture

_MISSING = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """Where a batch ends and which sentences are left out.

    Attributes:
        tokens: Of a batch, pads included: rows x the longest sentence x languages of the path.
        sentences: Rows of a batch; as many as the tokens allow where None.
        longest: Tokens of a sentence; a row with a longer one is left out, never cut, since half
            a sentence is no translation.
        window: Batches that are sorted by length together. More: less padding; fewer: more chance.
    """

    tokens: int
    sentences: int | None = None
    longest: int = 50
    window: int = 50


class TranslationBatches:
    """Draws homogeneous mini-batches: a path by its coefficient, then its next rows.

    Each path walks through all rows that have its languages before any comes again. Within a path
    rows of like length stand together, so that little is padded.

    Args:
        rows: Sentences that mean the same.
        tokens: Their ids; may come from one tokenizer or from one a language.
        mixture: The paths and how often each is gone.
        limits: Where a batch ends.
        seed: Of everything that is drawn.

    Raises:
        InputError: A path has no row with all of its languages.
    """

    def __init__(
        self,
        rows: ParallelRows,
        tokens: TokenTable,
        mixture: Mixture,
        *,
        limits: BatchLimits,
        seed: int,
    ) -> None:
        raise NotImplementedError

    def draw(self) -> TranslationBatch:
        """Return the next batch."""
        raise NotImplementedError

    def state_dict(self) -> State:
        """Return each path's place and the state of the random numbers."""
        raise NotImplementedError

    def load_state_dict(self, state: State) -> None:
        """Go on from where `state_dict` was taken."""
        raise NotImplementedError
