"""What of a batch was computed, for the metrics and for the queue's idea of the speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.inference.encoder import Tower
from service.text.tokenizer import Inputs, Tokens


@dataclass(slots=True)
class Computed:
    """The texts of a batch that were computed, and not taken from an equal one.

    Attributes:
        texts: How many.
        tokens: Of them.
        padded_tokens: Padding included, where the session computes it.
    """

    texts: int = 0
    tokens: int = 0
    padded_tokens: int = 0

    def add(self, tower: Tower, tokens: Sequence[Tokens], inputs: Inputs) -> None:
        """Take texts that were computed as `inputs`."""
        count = sum(map(len, tokens))
        self.texts += len(tokens)
        self.tokens += count
        self.padded_tokens += int(inputs["mask"].size) if tower.session.pads else count
