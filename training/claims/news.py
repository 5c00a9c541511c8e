"""What several claims measure: classification of news, topics of dialogues, search, STS."""

from __future__ import annotations

from training.claims.quantities import Quantity

HELD_OUT = ("source=multi30k", "rows=28452,28952")
"""Captions that no run is trained on, nor chooses anything by."""

NEWS = ("sets=masakhanews,newstopics",)
"""Articles of several sentences; the labels that all languages of a system have are used."""

TOPICS = ("sets=xdailydialog", "folds=10", "languages=en,de")
"""Dialogues of several turns, the same in both languages, five labels; ten rotations. On SIB-200's
sentences all systems of this size are at chance (docs/lab-notes.md)."""


def search(*assignments: str, name: str = "search error", part: str | None = None) -> Quantity:
    """Return the similarity search error on held-out captions."""
    return Quantity(
        name=name,
        protocol="search",
        assignments=(*HELD_OUT, *assignments),
        part=part,
        better="lower",
    )


def news(classifier: str, *assignments: str, name: str, part: str | None = None) -> Quantity:
    """Return the accuracy across languages on news articles."""
    return Quantity(
        name=name,
        protocol="classification",
        assignments=(*NEWS, f"classifier={classifier}", *assignments),
        part=part,
    )


def topics(*assignments: str, name: str = "topics, Cross", figure: int = 0) -> Quantity:
    """Return the accuracy on topics of dialogues with the thesis's feed-forward network.

    Args:
        assignments: Changes.
        name: In the tables.
        figure: 0 is "Cross", 1 is "Same".
    """
    return Quantity(
        name=name,
        protocol="classification",
        assignments=(*TOPICS, "classifier=ffn", *assignments),
        figure=figure,
    )


SPEED = Quantity(name="training speed", protocol="training-speed", unit="words/s")
"""Words a second of processor time."""
