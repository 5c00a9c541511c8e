"""Training paths: which languages go in and which come out of one mini-batch.

Schwenk & Douze 2017, section 2 and figure 2. A system has encoders and decoders of many languages;
a batch uses some of them. The rule for what a decoder sees is one: the mean of the vectors of the
sources other than its own language. So

    1:1   one source, one target                        en -> ar
    M:1   several sources, averaged                     en + fr -> ar
    1:N   one source, every other language              en -> fr, es, ar
    M:N   several sources, averaged, several targets    en + fr -> es, ar
    both ways: each the source of the other             en, fr -> en, fr   (Yu et al. 2018, 2.1)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

from service.errors import InputError


@dataclass(frozen=True, slots=True)
class TrainingPath:
    """The languages of one kind of mini-batch.

    Attributes:
        sources: Those that are encoded.
        targets: Those that are decoded. One that is also a source is decoded from the others.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]

    @property
    def languages(self) -> tuple[str, ...]:
        """All languages that a sentence must have to go this way, each once."""
        return tuple(dict.fromkeys((*self.sources, *self.targets)))

    def __str__(self) -> str:
        return f"{'+'.join(self.sources)}->{','.join(self.targets)}"


@dataclass(frozen=True, slots=True)
class Mixture:
    """Paths, and how often a mini-batch goes which.

    Attributes:
        paths: All of them different.
        coefficients: One a path: the part of the corpus that goes this way in an epoch. A batch
            goes a path with a probability in proportion to it.
    """

    paths: tuple[TrainingPath, ...]
    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.paths) != len(self.coefficients) or not self.paths:
            raise ValueError("a mixture has one coefficient a path; this is a bug")
        if min(self.coefficients) <= 0:
            raise InputError(
                "A path's coefficient must be above 0.",
                field="coefficients",
                given=self.coefficients,
                remedy="Leave the path out.",
            )

    @property
    def shares(self) -> tuple[float, ...]:
        """The coefficients, scaled to sum to 1."""
        total = sum(self.coefficients)
        return tuple(coefficient / total for coefficient in self.coefficients)

    @property
    def sources(self) -> tuple[str, ...]:
        """Every language that is encoded, each once: those that need an encoder."""
        return tuple(dict.fromkeys(name for path in self.paths for name in path.sources))

    @property
    def targets(self) -> tuple[str, ...]:
        """Every language that is decoded, each once: those that need a decoder."""
        return tuple(dict.fromkeys(name for path in self.paths for name in path.targets))

    def encoder_exposure(self) -> dict[str, float]:
        """Return how many times each encoder sees the corpus in an epoch."""
        seen: dict[str, float] = {}
        for path, coefficient in zip(self.paths, self.coefficients, strict=True):
            for language in path.sources:
                seen[language] = seen.get(language, 0.0) + coefficient
        return seen


def even(paths: Iterable[TrainingPath]) -> Mixture:
    """Return `paths`, each as often as the others."""
    found = tuple(dict.fromkeys(paths))
    return Mixture(found, (1.0,) * len(found))


def many_to_one(
    sources: Sequence[str], target: str, *, together: int = 1
) -> tuple[TrainingPath, ...]:
    """Return the M:1 paths: every choice of `together` sources into `target`; 1 gives 1:1.

    Schwenk & Douze 2017, section 2: the target's language never goes in, so it gets no encoder.
    """
    return tuple(
        TrainingPath(chosen, (target,))
        for chosen in combinations([name for name in sources if name != target], together)
    )


def one_to_many(languages: Sequence[str]) -> tuple[TrainingPath, ...]:
    """Return the 1:N paths: each language into all the others (`efsraz-all`)."""
    return many_to_many(languages, together=1)


def many_to_many(languages: Sequence[str], *, together: int) -> tuple[TrainingPath, ...]:
    """Return the M:N paths: every choice of `together` sources into all the other languages."""
    return tuple(
        TrainingPath(chosen, tuple(name for name in languages if name not in chosen))
        for chosen in combinations(languages, together)
    )


def each_to_pivots(languages: Sequence[str], pivots: Sequence[str]) -> tuple[TrainingPath, ...]:
    """Return 1:1 paths from every language into every pivot but itself."""
    return tuple(
        TrainingPath((source,), (pivot,))
        for source in languages
        for pivot in pivots
        if source != pivot
    )


def both_ways(languages: Sequence[str], pivots: Sequence[str]) -> tuple[TrainingPath, ...]:
    """Return one path a pair of a language and a pivot, with both directions in each batch.

    Yu, Li & Oguz 2018, section 2.1: six languages with the pivots en and es are 9 pairs of
    different languages (the paper counts 10).
    """
    pairs = dict.fromkeys(
        tuple(sorted((language, pivot)))
        for pivot in pivots
        for language in languages
        if language != pivot
    )
    return tuple(TrainingPath(pair, pair) for pair in pairs)


TABLE_3: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "1": (1.0,),
        "2": (0.0, 0.5),
        "3": (0.0, 0.0, 1.0),
        "12a": (0.9, 0.05),
        "12b": (0.8, 0.10),
        "12c": (0.7, 0.15),
        "12d": (0.6, 0.20),
        "12e": (0.5, 0.25),
        "13": (0.5, 0.0, 0.5),
        "123a": (0.33, 0.16, 0.33),
        "123b": (0.25, 0.25, 0.25),
    }
)
"""Coefficients of a path with 1, 2 and 3 sources, by the ID of Schwenk & Douze 2017, table 3.

They were chosen "so that each encoder always sees the same number of sentences": with three input
languages an encoder takes part in one 1:1, two 2:1 and one 3:1 path.
"""


def table_3(identity: str, sources: Sequence[str], target: str) -> Mixture:
    """Return the mixture of table 3 with that ID (`1`, `12a`, `123b` ...).

    Raises:
        InputError: No such ID, or not three input languages, for which the coefficients are.
    """
    if identity not in TABLE_3:
        raise InputError(
            f"Table 3 has the mixtures {', '.join(TABLE_3)}.", field="mixture", given=identity
        )
    if len(sources) != 3 or target in sources:
        raise InputError(
            "The mixtures of table 3 are for three input languages and another one as target.",
            field="languages",
            given="+".join((*sources, target)),
            remedy="Name four languages, the target among them: --set languages=en,fr,es,ar.",
        )
    paths: list[TrainingPath] = []
    coefficients: list[float] = []
    for together, coefficient in enumerate(TABLE_3[identity], start=1):
        if coefficient:
            chosen = many_to_one(sources, target, together=together)
            paths.extend(chosen)
            coefficients.extend([coefficient] * len(chosen))
    return Mixture(tuple(paths), tuple(coefficients))
