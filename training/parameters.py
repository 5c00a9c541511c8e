"""Parameters that recipes share: which text they are trained on, and how often they look up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NotRequired, TypedDict

from training.data.lines import OnBroken

Size = Annotated[int, 1]
"""How many or how wide: `--set` refuses what is below 1, which no loop and no layer can have."""


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
