"""How much one batch may hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LAID_OUT_SHARE = 2
"""Where padding is not computed, attention still sees the padded square: at most so many times the
budget."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The bound of a batch, in tokens.

    Attributes:
        tokens: Padded ones where the session computes padding, real ones where it does not.
        pads: Whether it does.
    """

    tokens: int
    pads: bool = True

    def cost(self, *, texts: int, width: int, tokens: int) -> int:
        """Return what a batch costs: `texts` of up to `width` tokens, `tokens` in all."""
        return width * texts if self.pads else tokens

    def takes(self, *, texts: int, width: int, tokens: int) -> bool:
        """Return whether such a batch keeps to the budget."""
        if self.pads:
            return width * texts <= self.tokens
        return tokens <= self.tokens and width * texts <= LAID_OUT_SHARE * self.tokens

    def at_most(self, tokens: int | None) -> Budget:
        """Return this budget, or one of `tokens` where that is less."""
        return self if tokens is None else Budget(min(self.tokens, tokens), self.pads)


def about_tokens(texts: Sequence[str], *, limit: int) -> int:
    """Return about how many tokens `texts` have, each cut to `limit`, before they are made."""
    # Scripts without spaces have about a token a character, others one in three to five.
    return sum(min(limit, 1 + len(text) // 3) for text in texts)
