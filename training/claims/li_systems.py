"""The systems of Li 2021 as the claims have them: which text, which sizes, for how long."""

from __future__ import annotations

from dataclasses import dataclass

from training.claims import training_text
from training.claims.trained import System


@dataclass(frozen=True, slots=True)
class Text:
    """What the systems of chapter 4 are trained on, and for how many batches of 375 tokens."""

    assignments: tuple[str, ...]
    steps: int


BROAD = Text(training_text.BROAD, 22_000)
CAPTIONS = Text(training_text.CAPTIONS, 8_000)


def _pivots(text: Text, *assignments: str) -> tuple[str, ...]:
    return (
        "languages=en,de,fr",
        "pivots=en,fr",
        *text.assignments,
        "pieces=2000",
        "batch_tokens=375",
        "longest=60",
        f"steps={text.steps}",
        f"develop_every={text.steps}",
        *assignments,
    )


def t_mde(
    *assignments: str,
    text: Text = BROAD,
    languages: tuple[str, ...] = (),
    paper: tuple[str, ...] = (),
) -> System:
    """Return T-MDE as `assignments` choose it, which are the paper's too.

    Args:
        assignments: What is chosen.
        text: What it is trained on.
        languages: Which, here ...
        paper: ... and in the paper, where they are not those of its other systems.
    """
    settings = (
        "width=96",
        "layers=3",
        "heads=4",
        "inner=192",
        "rate=0.002",
        "warm_up=300",
        "rows=16",
    )
    return System(
        "li-tmde",
        _pivots(text, *settings, *assignments, *languages),
        paper=(*assignments, *paper),
    )


def laser(layers: int, beta: float, text: Text = BROAD) -> System:
    """Return LASER of so many layers, with the constraint where `beta` is above 0."""
    settings = ("width=192", "decoder_width=192", "embedding=64", "rate=0.002")
    return System(
        "li-laser",
        _pivots(text, *settings, f"layers={layers}", f"beta={beta}"),
        paper=(f"layers={1 if layers == 1 else 6}", f"beta={beta}"),
    )


ENGLISH_GERMAN = (
    "sources=wmt_nway,wmt_pairs,ntrex,tatoeba,tatoeba_anki",
    "research=true",
)
"""News and short sentences: two translators of their own need more to begin to read."""


def ntdv(vector: str, beta: float, sources: tuple[str, ...] = ENGLISH_GERMAN) -> System:
    """Return NV, or cNV where `beta` is above 0, with the heads' contexts summed or joined."""
    chosen = (f"vector={vector}", f"beta={beta}")
    return System(
        "li-ntdv",
        (
            "languages=en,de",
            *sources,
            "pieces=3000",
            "embedding=64",
            "width=64",
            "rate=0.004",
            "longest=40",
            "batch=64",
            "steps=3000",
            "shared_steps=2000",
            "develop_every=1000",
            *chosen,
        ),
        paper=chosen,
    )
