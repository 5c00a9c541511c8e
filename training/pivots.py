"""Translation into pivot languages, with or without a distance constraint.

Li 2021, chapter 4: every language is translated into the pivots, by one encoder and one decoder,
so sentences that mean the same are drawn to what says the same in a pivot.
"""

from __future__ import annotations

from collections.abc import Sequence

from training.objectives.distance_constraint import TmdeDistance
from training.objectives.translation import TranslationLoss
from training.paths import Mixture, TrainingPath, each_to_pivots, even
from training.translation import Terms


def check_pivots(languages: Sequence[str], pivots: Sequence[str]) -> None:
    """Refuse pivots that are no languages, and a language alone.

    Raises:
        ValueError: They are.
    """
    if not pivots or not set(pivots) <= set(languages) or len(languages) < 2:
        raise ValueError(f"pivots are among the languages, {', '.join(languages)}")


def pivot_description(pivots: Sequence[str], *, constrained: bool) -> str:
    """Return what such a model is, for its card."""
    return f"Learned by translating into {' and '.join(pivots)} (Li 2021, chapter 4)" + (
        ", with a distance constraint between translations." if constrained else "."
    )


def pivot_mixture(languages: Sequence[str], pivots: Sequence[str], *, constrained: bool) -> Mixture:
    """Return each language into each pivot, as often as the others (Li 2021, section 4.2).

    Args:
        languages: All.
        pivots: Those that are written.
        constrained: Whether the target is encoded too, for the distance of the two vectors. That a
            target is decoded from the other sources keeps it out of its own translation.
    """
    chosen = each_to_pivots(languages, pivots)
    if constrained:
        chosen = tuple(
            TrainingPath((*path.sources, *path.targets), path.targets) for path in chosen
        )
    return even(chosen)


def pivot_terms(distance: TmdeDistance, *, beta: float, smoothing: float) -> Terms:
    """Return eq. 4.21 of Li 2021, or the translation loss alone where `beta` is 0.

    Args:
        distance: d_p + lambda / N_s sum_j delta_j.
        beta: Its weight.
        smoothing: Of the translation's targets.
    """
    if not beta:
        return Terms(translation=TranslationLoss("token", smoothing))
    return Terms(
        # The equation is a sentence's, and l_mt the cross-entropy of all its tokens.
        translation=TranslationLoss("sum", smoothing),
        translation_weight=0.5,
        closeness={"distance": (distance, beta)},
    )
