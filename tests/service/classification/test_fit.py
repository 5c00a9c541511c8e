from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest

from service.classification import folds
from service.classification.calibration import probabilities
from service.classification.fit import FitOptions, Fitted, fit
from service.classification.folds import CROSS_VALIDATED, make_folds
from service.classification.logistic import Linear
from service.classification.report import Report
from service.jobs.job import JobCancelledError

LABELS = ("a", "b", "c")


@dataclass
class Watch:
    """Remembers what it is told; breaks the fit off after `patience` checks."""

    patience: int = 10**9
    told: list[tuple[int, int | None]] = field(default_factory=list)

    def progress(self, done: int, total: int | None = None, note: str | None = None) -> None:
        del note
        self.told.append((done, total))
        self.check()

    def check(self) -> None:
        self.patience -= 1
        if self.patience < 0:
            raise JobCancelledError


def clouds(count: int, *, seed: int = 0, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    targets = random.permutation(np.arange(count) % 3)
    centres = np.random.default_rng(9).standard_normal((3, 16))
    vectors = centres[targets] + noise * random.standard_normal((count, 16))
    return vectors.astype(np.float32), targets


def fitted(
    vectors: np.ndarray,
    targets: np.ndarray,
    options: FitOptions | None = None,
    *,
    watch: Watch | None = None,
    prior: Linear | None = None,
) -> Fitted:
    languages = ["de" if row % 2 else "en" for row in range(len(targets))]
    return fit(
        vectors, targets, labels=LABELS, languages=languages, options=options or FitOptions(),
        watcher=watch or Watch(), prior=prior,
    )  # fmt: skip


def report_of(found: Fitted) -> Report:
    assert found.report is not None
    return found.report


def accuracy(found: Fitted, count: int = 600, *, noise: float = 1.0) -> float:
    vectors, targets = clouds(count, seed=77, noise=noise)
    return float((found.linear.logits(vectors).argmax(axis=1) == targets).mean())


def test_held_out_figures_are_those_of_new_examples() -> None:
    found = fitted(*clouds(300, noise=3.0))
    assert report_of(found).accuracy == pytest.approx(accuracy(found, noise=3.0), abs=0.07)
    assert report_of(found).folds == 5
    assert report_of(found).examples == 300
    confusion = report_of(found).confusion
    assert confusion is not None
    assert np.sum(confusion.rows) == 300
    languages = report_of(found).by_language
    assert {code: report.examples for code, report in languages.items()} == {"de": 150, "en": 150}
    assert report_of(found).ece < 0.1


def test_a_rare_label_is_learned_where_strong_regularisation_is_blind_to_it() -> None:
    targets = np.random.default_rng(1).permutation(np.arange(200) % 10 == 0).astype(np.int64)
    noise = np.random.default_rng(2).standard_normal((200, 16))
    noise[:, 0] += 6 * targets
    vectors = (noise / 30).astype(np.float32)
    blind = fitted(vectors, targets, FitOptions(regularisation=1.0))
    assert report_of(blind).accuracy == 0.9  # it gives every text the frequent label
    assert report_of(fitted(vectors, targets)).accuracy > 0.95


def test_of_strengths_that_do_as_well_none_is_taken_that_gives_one_answer_to_all() -> None:
    targets = np.random.default_rng(1).permutation(np.arange(100) % 10 == 0).astype(np.int64)
    noise = np.random.default_rng(2).standard_normal((100, 16))
    noise[:, 0] += 2 * targets
    vectors = (noise / 30).astype(np.float32)
    confusion = report_of(fitted(vectors, targets)).confusion
    assert confusion is not None
    assert sum(row[1] for row in confusion.rows) > 0  # the rare label is given
    several = np.stack([0 * targets, targets, 0 * targets], axis=1).astype(np.int8)
    assert (fitted(vectors, several).linear.logits(vectors)[:, 1] > 0).any()


def test_two_examples_a_label_are_enough() -> None:
    found = fitted(*clouds(6, noise=0.3))
    assert report_of(found).folds == 2
    assert accuracy(found, noise=0.3) > 0.9
    assert np.isfinite(found.temperature)


def test_a_great_many_examples_have_one_held_out_share() -> None:
    vectors, targets = clouds(CROSS_VALIDATED + 1, noise=1.0)
    found = fitted(vectors, targets, FitOptions(regularisation=1.0))
    assert report_of(found).folds == 1
    assert report_of(found).examples == (CROSS_VALIDATED + 1) // 5
    assert report_of(found).regularisation == 1.0


def test_of_a_million_a_part_is_fitted_to_choose_the_strength() -> None:
    (fold,) = make_folds(np.zeros(1_000_000, dtype=np.int64))
    assert isinstance(fold.fit, slice)
    assert isinstance(fold.held_out, slice)
    assert fold.fit.stop - fold.fit.start == 40_000
    assert (fold.held_out.start, fold.held_out.stop) == (fold.fit.stop, 1_000_000)


@pytest.mark.parametrize("many", [False, True])
def test_a_group_is_held_out_whole(monkeypatch: pytest.MonkeyPatch, many: bool) -> None:
    groups = np.repeat(np.arange(40), 5)
    targets = np.repeat(np.arange(40) % 4, 5)
    if many:
        monkeypatch.setattr(folds, "CROSS_VALIDATED", 100)
        groups, targets = groups[2:], targets[2:]
    made = make_folds(targets, groups=groups)
    assert len(made) == (1 if many else 5)
    for fold in made:
        fitted_on, held_out = groups[fold.fit], groups[fold.held_out]
        assert not set(fitted_on) & set(held_out)
        assert set(targets[fold.fit]) == set(range(4))
        assert len(fitted_on) + len(held_out) == len(groups)


def test_every_fold_has_every_label_and_every_row_is_held_out_once() -> None:
    targets = np.array([0] * 50 + [1] * 3 + [2] * 7)
    made = make_folds(targets)
    assert len(made) == 3
    for fold in made:
        assert set(targets[fold.fit]) == set(targets[fold.held_out]) == {0, 1, 2}
    held_out = np.concatenate([np.arange(60)[fold.held_out] for fold in made])
    assert sorted(held_out) == list(range(60))


@pytest.mark.parametrize("weights", ["balanced", {"a": 30.0}])
def test_class_weights_help_the_rare_label(weights: Mapping[str, float]) -> None:
    vectors, targets = clouds(3000, noise=4.0)
    kept = np.flatnonzero((targets != 0) | (np.arange(3000) < 300))

    def share_of_a(options: FitOptions) -> float:
        found = fitted(vectors[kept], targets[kept], options)
        return float((found.linear.logits(clouds(300, seed=4, noise=4.0)[0]).argmax(1) == 0).mean())

    weighted = FitOptions(class_weights=weights, regularisation=1.0)
    assert share_of_a(weighted) > share_of_a(FitOptions(regularisation=1.0)) + 0.1


def test_several_labels_a_text() -> None:
    vectors, targets = clouds(300)
    truth = np.stack([targets == 0, targets == 1, targets != 0], axis=1).astype(np.int8)
    found = fitted(vectors, truth)
    chances = probabilities(
        found.linear.logits(vectors), temperature=found.temperature, multi_label=True
    )
    assert ((chances > 0.5) == truth).mean() > 0.95
    assert report_of(found).confusion is None
    assert report_of(found).macro_f1 > 0.9


def test_the_share_of_unknown_is_reported() -> None:
    vectors, targets = clouds(300, noise=3.0)
    sure = fitted(vectors, targets, FitOptions(unknown_threshold=0.01))
    unsure = fitted(vectors, targets, FitOptions(unknown_threshold=0.95))
    assert report_of(sure).unknown_share == 0
    assert (report_of(unsure).unknown_share or 0) > 0.2


def test_few_examples_improve_on_a_description_and_need_it() -> None:
    centres = np.random.default_rng(9).standard_normal((3, 16)).astype(np.float32)
    askew = centres + np.random.default_rng(2).standard_normal((3, 16)).astype(np.float32)
    prior = Linear(0.5 * askew, np.zeros(3, dtype=np.float32))
    few = clouds(9, noise=2.0)
    described = Fitted(prior, 1.0, report_of(fitted(*few)))
    both = fitted(*few, prior=prior)
    assert accuracy(both, noise=2.0) > accuracy(described, noise=2.0) - 0.02
    assert accuracy(both, noise=2.0) > accuracy(fitted(*few), noise=2.0)


@pytest.mark.parametrize("patience", [0, 5, 60])
def test_it_can_be_broken_off_anywhere(patience: int) -> None:
    with pytest.raises(JobCancelledError):
        fitted(*clouds(300, noise=3.0), watch=Watch(patience))


def test_progress_only_grows_and_ends_whole() -> None:
    watch = Watch()
    fitted(*clouds(60), watch=watch)
    done = [number for number, _ in watch.told]
    assert done == sorted(done)
    assert watch.told[-1][0] == watch.told[-1][1]


def test_class_weights_of_any_size_are_finite_weights() -> None:
    features, targets = clouds(60)
    options = FitOptions(class_weights={"a": 1e308, "b": 1e-308}, regularisation=1.0)
    fitted = fit(
        features, targets, labels=LABELS, languages=[None] * 60, options=options, watcher=Watch()
    )
    assert np.isfinite(fitted.linear.weights).all()


def test_balanced_weights_leave_examples_without_any_label_their_say() -> None:
    features, _ = clouds(60)
    prior = Linear(np.zeros((3, features.shape[1]), np.float32), np.zeros(3, np.float32))
    fitted = fit(
        features, np.zeros((60, 3), np.uint8), labels=LABELS, languages=[None] * 60,
        options=FitOptions(class_weights="balanced"), watcher=Watch(), prior=prior,
    )  # fmt: skip
    assert (fitted.linear.bias < 0).all()
