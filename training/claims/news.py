"""What several claims measure: classification of news, search, speed."""

from __future__ import annotations

from training.claims.quantities import Quantity

HELD_OUT = ("source=multi30k", "rows=28452,28952")
"""Captions that no run is trained on, nor chooses anything by."""

NEWS = ("sets=masakhanews,newstopics",)
"""Articles of several sentences; the labels that all languages of a system have are used."""


def search(*assignments: str, name: str = "search error", part: str | None = None) -> Quantity:
    """Return the similarity search error on held-out captions."""
    return Quantity(
        name=name,
        protocol="search",
        assignments=(*HELD_OUT, *assignments),
        part=part,
        better="lower",
    )


def news(
    classifier: str, *assignments: str, name: str, part: str | None = None, figure: int = 0
) -> Quantity:
    """Return the accuracy on news articles.

    Args:
        classifier: Which.
        assignments: Changes.
        name: In the tables.
        part: A target language or `source>target`; the mean where None.
        figure: 0 is across languages, 1 within them.
    """
    return Quantity(
        name=name,
        protocol="classification",
        assignments=(*NEWS, f"classifier={classifier}", *assignments),
        part=part,
        figure=figure,
    )


SPEED = Quantity(name="training speed", protocol="training-speed", unit="words/s")
"""Words a second of processor time."""
