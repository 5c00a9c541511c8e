"""No classifier is measured on what it, or a translation of it, was fitted on."""

from __future__ import annotations

import pytest

from service.errors import InputError
from training.evaluation.labelled_documents import Document, LabelledSet, spread
from training.evaluation.splits import Splitting, Transfer, splits


def _set(language: str, *, parallel: bool) -> LabelledSet:
    def texts(part: str, count: int) -> list[Document]:
        return [
            Document(
                f"{language} {part} {i}", "ab"[i % 2], f"{'' if parallel else language}{part}{i}"
            )
            for i in range(count)
        ]

    return LabelledSet(texts("train", 20), texts("dev", 6))


PARALLEL = {code: _set(code, parallel=True) for code in ("en", "de", "fr")}
APART = {code: _set(code, parallel=False) for code in ("en", "de", "fr")}


@pytest.mark.parametrize("transfer", ["zero-shot", "targeted", "leave-one-out"])
@pytest.mark.parametrize("folds", [1, 5])
@pytest.mark.parametrize("sets", [PARALLEL, APART])
def test_nothing_leaks(transfer: Transfer, folds: int, sets: dict[str, LabelledSet]) -> None:
    made = list(splits(sets, Splitting(transfer=transfer, folds=folds)))
    assert len(made) == folds * (6 if transfer == "targeted" else 3)
    for split in made:
        known = {document.key for _, document in (*split.fit, *split.tune)}
        for target, places in split.test.items():
            assert places
            assert not known & {document.key for _, document in places}
            assert {language for language, _ in places} == {target}
        fitted = {language for language, _ in split.fit}
        tuned = {language for language, _ in split.tune}
        if transfer == "zero-shot":
            assert fitted == tuned == {split.source}
        elif transfer == "targeted":
            assert tuned == set(split.test)
        else:
            assert not fitted & set(split.test)


def test_folds_measure_each_text_once() -> None:
    measured = [
        document.key
        for split in splits(PARALLEL, Splitting(folds=4))
        if split.source == "en"
        for _, document in split.test["de"]
    ]
    assert sorted(measured) == sorted(document.key for document in PARALLEL["de"].train)


def test_unparallel_texts_of_other_languages_are_measured_on_as_well() -> None:
    (split,) = (s for s in splits(APART, Splitting()) if s.source == "en")
    assert len(split.test["en"]) == 6
    assert len(split.test["de"]) == 26
    (split,) = (s for s in splits(PARALLEL, Splitting()) if s.source == "en")
    assert len(split.test["de"]) == 6


def test_fewer_documents_leave_more_to_measure_on() -> None:
    (split,) = (s for s in splits(PARALLEL, Splitting(documents=10)) if s.source == "en")
    assert (len(split.fit), len(split.tune), len(split.test["en"])) == (8, 2, 16)
    with pytest.raises(InputError, match="too few for 11 folds"):
        list(splits(PARALLEL, Splitting(folds=11)))


def test_nothing_is_set_aside_for_a_classifier_that_does_not_tune() -> None:
    for split in splits(APART, Splitting(tuned=False, transfer="leave-one-out")):
        assert (len(split.fit), len(split.tune)) == (40, 0)


def test_translations_keep_together_whatever_the_order() -> None:
    orders = [[d.key for d in spread(PARALLEL[code].train, seed=1)] for code in ("en", "de")]
    assert orders[0] == orders[1] != [d.key for d in PARALLEL["en"].train]
