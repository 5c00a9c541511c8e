"""Which texts a classifier is fitted on, tuned on and measured on, across languages.

| transfer | fitted on | tuned on | paper |
|---|---|---|---|
| zero-shot | the source language | the source language | all of them |
| targeted | the source language | the target language | Yu et al. 2018, 5.2; Schwenk & Li 2018 |
| leave-one-out | all languages but the target | the first of these | Yu et al. 2018, 5.2 |

No text is measured on whose translation was fitted or tuned on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from service.errors import InputError
from training.evaluation.labelled_documents import Document, LabelledSet, spread

Transfer = Literal["zero-shot", "targeted", "leave-one-out"]

Places = Sequence[tuple[str, Document]]
"""Language and text."""


@dataclass(frozen=True, slots=True)
class Split:
    """One classifier's texts.

    Attributes:
        source: The language it is fitted on; `all` where there are several.
        fold: Which of the rotations this is.
        fit: Texts to fit on.
        tune: Texts to choose hyperparameters on; none where the plan says so.
        test: By target language, texts to measure on.
    """

    source: str
    fold: int
    fit: Places
    tune: Places
    test: Mapping[str, Places]


@dataclass(frozen=True, slots=True, kw_only=True)
class Splitting:
    """How texts are split.

    Attributes:
        transfer: Which of the three.
        documents: Texts to fit and tune on in each language; all that are there where None.
        tuned: Whether a part is set aside to tune on. Where not, all of it is fitted on.
        folds: 1 fits on the texts to fit on and measures on the others; more rotate the texts to
            fit on, so that each is measured on once.
        seed: Of the order they are taken in.
    """

    transfer: Transfer = "zero-shot"
    documents: int | None = None
    tuned: bool = True
    folds: int = 1
    seed: int = 0


_TUNE_PART = 5  # one of so many texts is tuned on


def splits(sets: Mapping[str, LabelledSet], plan: Splitting) -> Iterator[Split]:
    """Yield the splits of `sets`, language -> texts.

    Raises:
        InputError: There are too few texts for as many folds.
    """
    ordered = {name: spread(texts.train, seed=plan.seed) for name, texts in sets.items()}
    for fold in range(plan.folds):
        usable, aside = _rotate(ordered, fold, plan)
        for source, targets in _sources(tuple(sets), plan.transfer):
            yield from _split(sets, usable, aside, source, targets, fold, plan)


def _rotate(
    ordered: Mapping[str, list[Document]], fold: int, plan: Splitting
) -> tuple[dict[str, list[Document]], dict[str, list[Document]]]:
    """Return what may be fitted and tuned on, and what is set aside to be measured on."""
    usable: dict[str, list[Document]] = {}
    aside: dict[str, list[Document]] = {}
    for language, texts in ordered.items():
        if plan.folds > 1:
            if len(texts) < 2 * plan.folds:
                raise InputError(
                    f"{len(texts)} texts in {language} are too few for {plan.folds} folds.",
                    field="folds",
                )
            begin = fold * len(texts) // plan.folds
            end = (fold + 1) * len(texts) // plan.folds
            usable[language], aside[language] = texts[:begin] + texts[end:], texts[begin:end]
        else:
            usable[language], aside[language] = texts, []
        if plan.documents is not None:
            if plan.folds == 1:
                aside[language] = usable[language][plan.documents :]
            usable[language] = usable[language][: plan.documents]
    return usable, aside


def _sources(
    languages: tuple[str, ...], transfer: Transfer
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield the languages that are fitted on together, and those that they are measured on."""
    for language in languages:
        others = tuple(name for name in languages if name != language)
        if transfer == "zero-shot":
            yield (language,), languages
        elif transfer == "targeted":
            for target in others:
                yield (language,), (target,)
        else:
            yield others, (language,)


def _split(
    sets: Mapping[str, LabelledSet],
    usable: Mapping[str, list[Document]],
    aside: Mapping[str, list[Document]],
    sources: tuple[str, ...],
    targets: tuple[str, ...],
    fold: int,
    plan: Splitting,
) -> Iterator[Split]:
    def parts(language: str) -> tuple[list[Document], list[Document]]:
        texts = usable[language]
        if not plan.tuned:
            return texts, []
        border = len(texts) - max(1, len(texts) // _TUNE_PART)
        return texts[:border], texts[border:]

    tuned = targets[0] if plan.transfer == "targeted" else sources[0]
    fit = [(name, document) for name in sources for document in parts(name)[0]]
    tune = [(tuned, document) for document in parts(tuned)[1]]
    known = {document.key for _, document in (*fit, *tune)}
    test = {}
    for target in targets:
        candidates = list(aside[target])
        if plan.folds == 1:
            candidates += sets[target].test
            if target not in sources and target != tuned:
                candidates += usable[target]
        kept = [document for document in candidates if document.key not in known]
        if not kept:
            raise InputError(
                f"No text in {target} is left to measure on.",
                remedy="Name fewer documents to fit on, or rotate: --set folds=10.",
            )
        test[target] = [(target, document) for document in kept]
    yield Split("all" if len(sources) > 1 else sources[0], fold, fit, tune, test)
