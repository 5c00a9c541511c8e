"""Parameters that recipes share: which text they are trained on, and how often they look up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NotRequired, TypedDict

from training.data.lines import OnBroken


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The numbers that a parameter may have; `--set` refuses others before anything is read.

    Attributes:
        least: The smallest of them ...
        beyond: ... unless they only begin beyond it.
        below: They end before it.
    """

    least: float = 0
    beyond: bool = False
    below: float = math.inf

    def hold(self, value: float) -> bool:
        """Return whether `value` is one of them."""
        begun = value > self.least if self.beyond else value >= self.least
        return begun and value < self.below

    def __str__(self) -> str:
        begin = f"above {self.least:g}" if self.beyond else f"{self.least:g} or more"
        return begin if math.isinf(self.below) else f"{begin} and below {self.below:g}"


Size = Annotated[int, Bounds(least=1)]
"""How many or how wide: no loop and no layer can have none."""

Part = Annotated[float, Bounds(below=1)]
"""Of a whole that must not be gone altogether, such as what dropout leaves out."""

Rate = Annotated[float, Bounds(beyond=True)]
"""A step size, a width, a divisor: at 0 nothing is learnt, below it the wrong way."""

Weight = Annotated[float, Bounds()]
"""Of a term of the loss, or a margin in it: 0 leaves it out, below 0 the loss has no floor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextParameters:
    """Which parallel text a recipe is trained on."""

    languages: tuple[str, ...]
    sources: tuple[str, ...]  # folders under parallel/
    broken: OnBroken = "refuse"  # what to do about broken lines
    research: bool = False  # whether research-only text is allowed; the model must not ship then
    # Rows of this source (none where it is empty), or pairs of each of its files, ...
    held_out_source: str = "ntrex"
    held_out_first: int = 700  # ... from here on are not trained on; 4,000 are developed on
    seed: int = 0  # of all that is drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationParameters(TextParameters):
    """The same for systems that learn by translating, and how long they do."""

    steps: Size
    develop_every: int = 500  # steps
    log_every: int = 50  # steps
    max_tokens: Size = 256  # of a text that is served


class TextSource(TypedDict):
    """Where a scale's text is from: the part of the parameters that goes together."""

    sources: tuple[str, ...]
    held_out_source: str
    held_out_first: int
    broken: NotRequired[OnBroken]


TEMPLATES: TextSource = {
    "sources": ("template_sentences",),
    "held_out_source": "template_sentences",
    "held_out_first": 224,
}
"""Sentences made from templates, for `smoke`."""


def europarl(pairs: int) -> TextSource:
    """Return Europarl v7 but for its end: the first `pairs` of each two languages to train on.

    Its empty lines are left out, as in Hermann & Blunsom 2013, section 4.1.
    """
    return {
        "sources": ("europarl",),
        "held_out_source": "europarl",
        "held_out_first": pairs,
        "broken": "skip",
    }
