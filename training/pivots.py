"""Translation into pivot languages, with or without a distance constraint.

Li 2021, chapter 4: every language is translated into the pivots, by one encoder and one decoder,
so sentences that mean the same are drawn to what says the same in a pivot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch.optim import Optimizer

from service.errors import InputError
from training.data.catalogue import EDITED
from training.data.translation import TranslationBatch
from training.data.translation_batches import BatchLimits
from training.export import Model, Tower
from training.loop import Phase, Precision
from training.objectives.distance_constraint import TmdeDistance
from training.objectives.translation import TranslationLoss
from training.parameters import Size, TranslationParameters, Weight
from training.paths import Mixture, TrainingPath, each_to_pivots, even
from training.preparation import provenance
from training.schedules import Schedule
from training.translation import SHARED, Terms, TranslationSystem
from training.translation_text import TranslationText, translation_options


@dataclass(frozen=True, slots=True, kw_only=True)
class PivotParameters(TranslationParameters):
    """What LASER and T-MDE have in common; the numbers are those of section 4.3.1."""

    languages: tuple[str, ...] = ("en", "de", "fr", "es", "it")  # section 4.2
    pivots: tuple[str, ...] = ("en", "es")  # languages that are written
    sources: tuple[str, ...] = ("tatoeba", "tatoeba_anki", *EDITED)
    pieces: Size = 50_000  # BPE, all languages together
    beta: Weight = 0.25  # of the constraint; 0 leaves it out
    margin: Weight = 0.5  # alpha
    marginal: Weight = 1.0  # lambda
    draws: Size = 40  # N_s
    batch_tokens: Size = 128_000  # of a side, pads included
    longest: Size = 100  # tokens
    precision: Precision = "fp32"
    develop_every: int = 1000
    max_tokens: Size = 512  # of a text that is served; 750 (4.5.2)


def check_pivots(languages: Sequence[str], pivots: Sequence[str]) -> None:
    """Refuse pivots that are no languages, and a language alone.

    Raises:
        InputError: They are.
    """
    if len(languages) < 2:
        raise InputError(
            "A language is translated into another: two are the least.",
            field="languages",
            given=",".join(languages),
            remedy="Name two or more: --set languages=en,de.",
        )
    if not pivots or not set(pivots) <= set(languages):
        raise InputError(
            f"Pivots are among the languages, {', '.join(languages)}.",
            field="pivots",
            given=",".join(pivots),
            remedy=f"Name one of them or more: --set pivots={languages[0]}.",
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


def pivot_terms(p: PivotParameters, *, smoothing: float = 0.0) -> Terms:
    """Return eq. 4.21 of Li 2021, or the translation loss alone where beta is 0.

    Args:
        p: Holds beta, and alpha, lambda and N_s of the distance d_p + lambda / N_s sum_j delta_j.
        smoothing: Of the translation's targets.
    """
    if not p.beta:
        return Terms(translation=TranslationLoss("token", smoothing))
    distance = TmdeDistance(margin=p.margin, weight=p.marginal, draws=p.draws)
    return Terms(
        # The equation is a sentence's, and l_mt the cross-entropy of all its tokens.
        translation=TranslationLoss("sum", smoothing),
        translation_weight=0.5,
        closeness={"distance": (distance, p.beta)},
    )


def pivot_phase(
    p: PivotParameters,
    text: TranslationText,
    system: TranslationSystem,
    *,
    optimiser: Optimizer,
    schedule: Schedule,
) -> Phase[TranslationBatch]:
    """Return the training of `system`, which is on its device, into the pivots."""
    return text.phase(
        system,
        pivot_mixture(p.languages, p.pivots, constrained=p.beta > 0),
        limits=BatchLimits(tokens=2 * p.batch_tokens, longest=p.longest),
        optimiser=optimiser,
        schedule=schedule,
        # Departure: the thesis chooses the best weights by MLDoc's development set (4.3.1).
        options=translation_options(p, precision=p.precision),
        seed=p.seed,
    )


def pivot_model(
    p: PivotParameters,
    text: TranslationText,
    tower: Tower,
    *,
    name: str,
    family: str,
    dimension: int,
    pooling: str,
) -> Model:
    """Return what is exported: one encoder for all languages, named as in the thesis."""
    constraint = ", with a distance constraint between translations" if p.beta else ""
    return Model(
        towers={SHARED: tower},
        name=name,
        family=family,
        description=(
            f"Learned by translating into {' and '.join(p.pivots)} (Li 2021, chapter 4)"
            f"{constraint}."
        ),
        space=f"li-{name}",
        dimension=dimension,
        languages=p.languages,
        max_tokens=p.max_tokens,
        pooling=pooling,
        research=p.research,
        data=provenance(text.corpus),
    )
