"""Labelled text of any set: what the readers of public formats give."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text, sentence or document, and its label."""

    text: str
    label: str


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two texts and the label of how they stand to each other."""

    first: str
    second: str
    label: str


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """Two texts and how alike they are."""

    first: str
    second: str
    score: float
