"""Cross-lingual classification, few-shot curves, NLI and SentEval on made-up sets."""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from service.errors import InputError
from tests.training.evaluation.known_vectors import KnownVectors, write_tsv
from training.data.folder import DataFolder
from training.evaluation.classification import Classification
from training.evaluation.classifiers import Classifier, Examples, fit_classifier
from training.evaluation.few_shot import FewShot
from training.evaluation.figures import Figure
from training.evaluation.inference import Inference, pair_features
from training.evaluation.senteval import SentEval

LABELS = ("sports", "politics", "health")
LANGUAGES = ("en", "de", "fr")
TRAIN, DEV = 60, 45


def _texts(language: str, part: str, count: int) -> list[tuple[str, str, str]]:
    return [(f"{language} {part} {i}", LABELS[i % 3], f"{part}{i}") for i in range(count)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    root = tmp_path_factory.mktemp("data")
    for language, (part, count) in itertools.product(LANGUAGES, (("train", TRAIN), ("dev", DEV))):
        file = f"topics/{language}.{part}.tsv"
        write_tsv(root, file, ("text", "label", "id"), _texts(language, part, count))
    return DataFolder(root)


@pytest.fixture(scope="module")
def model() -> KnownVectors:
    """German is where English is; French is turned away from both."""
    centres = np.eye(3, 5) * 4
    known = {}
    for language in LANGUAGES:
        for part, count in (("train", TRAIN), ("dev", DEV)):
            for i, (text, _, _) in enumerate(_texts(language, part, count)):
                noise = np.random.default_rng([i, part == "dev"]).normal(size=5)
                row = centres[i % 3] + noise
                known[text] = np.roll(row, 1) if language == "fr" else row
    return KnownVectors(known, LANGUAGES)


def test_what_lies_together_transfers(folder: DataFolder, model: KnownVectors) -> None:
    cross, same = Classification(sets=("topics",)).measure(model, lambda: folder)
    assert cross.matrix["en"]["de"] == same.by_language["en"]
    assert cross.matrix["en"]["fr"] < 60 < same.value
    reference = LogisticRegression(C=1.0).fit(
        model.encode([t for t, _, _ in _texts("en", "train", TRAIN)]),
        [label for _, label, _ in _texts("en", "train", TRAIN)],
    )
    said = reference.predict(model.encode([t for t, _, _ in _texts("de", "dev", DEV)]))
    accuracy = 100 * np.mean(
        [a == b for a, (_, b, _) in zip(said, _texts("de", "dev", DEV), strict=True)]
    )
    assert cross.matrix["en"]["de"] == pytest.approx(accuracy, abs=5)
    pairs = [v for a, row in cross.matrix.items() for b, v in row.items() if a != b]
    assert cross.value == pytest.approx(np.mean(pairs))


def test_folds_are_kept_for_paired_tests(folder: DataFolder, model: KnownVectors) -> None:
    cross, _ = Classification(sets=("topics",), folds=5, classifier="perceptron").measure(
        model, lambda: folder
    )
    assert len(cross.by_fold) == 5
    assert json.loads(json.dumps(dataclasses.asdict(cross)))["value"] == cross.value
    assert np.mean(cross.by_fold) == pytest.approx(cross.value)


def test_several_orders_give_the_mean_of_each(folder: DataFolder, model: KnownVectors) -> None:
    def measured(orders: int, seed: int) -> list[Figure]:
        return Classification(
            sets=("topics",), folds=5, classifier="perceptron", orders=orders, seed=seed
        ).measure(model, lambda: folder)

    both, one, other = measured(2, 3), measured(1, 3), measured(1, 4)
    assert one[0].by_fold != other[0].by_fold
    assert both[0].by_fold == pytest.approx(one[0].by_fold + other[0].by_fold)
    for mean, first, second in zip(both, one, other, strict=True):
        assert mean.value == pytest.approx((first.value + second.value) / 2)
    with pytest.raises(ValueError, match="more are of texts that are rotated"):
        Classification(orders=2)


@pytest.mark.parametrize("transfer", ["targeted", "leave-one-out"])
def test_other_transfers_give_a_figure_each(
    transfer: str, folder: DataFolder, model: KnownVectors
) -> None:
    (cross,) = Classification(sets=("topics",), transfer=transfer).measure(  # type: ignore[arg-type]
        model, lambda: folder
    )
    assert 0 < cross.value < 100


def test_the_perceptron_is_fitted_on_all_texts(
    folder: DataFolder, model: KnownVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted: list[int] = []

    def fit(kind: str, fit: Examples, tune: Examples | None, *, seed: int) -> Classifier:
        fitted.append(len(fit.labels))
        return fit_classifier("perceptron", fit, tune, seed=seed)

    monkeypatch.setattr("training.evaluation.classification.fit_classifier", fit)
    Classification(sets=("topics",), classifier="perceptron").measure(model, lambda: folder)
    assert fitted == [TRAIN] * 3
    with pytest.raises(ValueError, match="perceptron chooses nothing; take zero-shot"):
        Classification(transfer="targeted", classifier="perceptron")


def test_missing_languages_and_labels_are_refused(folder: DataFolder, model: KnownVectors) -> None:
    with pytest.raises(InputError, match="has labelled text in this language"):
        Classification(sets=("topics",), languages=("en", "it")).measure(model, lambda: folder)
    with pytest.raises(InputError, match="lacks topic"):
        Classification(sets=("topics",), column="topic").measure(model, lambda: folder)
    write_tsv(folder.root, "other/it.train.tsv", ("text", "label"), [("a", "x"), ("b", "y")])
    with pytest.raises(InputError, match="fewer than two labels in common"):
        Classification(sets=("topics", "other"), languages=("en", "it")).measure(
            model, lambda: folder
        )


def test_curves_over_sizes_and_parts(folder: DataFolder, model: KnownVectors) -> None:
    sizes = FewShot(sets=("topics",), languages=("de",), sizes=(6, 60)).measure(
        model, lambda: folder
    )
    assert [figure.metric[:15] for figure in sizes] == ["accuracy with 6", "accuracy with 6"]
    assert sizes[1].value >= sizes[0].value
    parts = FewShot(sets=("topics",), languages=("fr",), parts=(0, 100)).measure(
        model, lambda: folder
    )
    none, everything, alone = parts
    assert none.value < everything.value - 10
    assert "without the source" in alone.metric
    with pytest.raises(InputError, match="There are 60 texts in en"):
        FewShot(sets=("topics",), sizes=(61,)).measure(model, lambda: folder)


def test_one_text_of_ten_is_tuned_on(
    folder: DataFolder, model: KnownVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[tuple[int, int]] = []

    def fit(kind: str, fit: Examples, tune: Examples | None, *, seed: int) -> Classifier:
        sizes.append((len(fit.labels), len(tune.labels) if tune else 0))
        return fit_classifier("perceptron", fit, seed=seed)

    monkeypatch.setattr("training.evaluation.few_shot.fit_classifier", fit)
    few = FewShot(sets=("topics",), languages=("de",), parts=(50,), tuned_on=10, draws=1)
    few.measure(model, lambda: folder)
    assert sizes == [(81, 9), (54, 6)]  # all 60 of en with 30 of de, and all 60 of de alone
    sizes.clear()
    dataclasses.replace(few, classifier="perceptron").measure(model, lambda: folder)
    assert sizes == [(90, 0), (60, 0)]
    with pytest.raises(ValueError, match="tuned_on"):
        FewShot(tuned_on=1)


def test_pair_features_are_those_of_the_paper() -> None:
    first, second = (np.array([row], dtype=np.float32) for row in ((1, 2), (3, 1)))
    assert pair_features(first, second).tolist() == [[1, 2, 3, 1, 2, 1, 3, 2]]


def test_inference_is_learnt_in_english_and_measured_abroad(tmp_path: Path) -> None:
    header = ("premise", "hypothesis", "label")
    names = ("entailment", "neutral", "contradiction")
    random = np.random.default_rng(0)
    known: dict[str, np.ndarray] = {}

    def rows(language: str, count: int) -> list[tuple[str, str, str]]:
        made = []
        for i in range(count):
            u = random.normal(size=6)
            v = {0: u, 1: random.normal(size=6), 2: -u}[i % 3]
            known[f"{language} p{i}"], known[f"{language} h{i}"] = u, v
            made.append((f"{language} p{i}", f"{language} h{i}", names[i % 3]))
        return made

    write_tsv(tmp_path, "nli/en.small.tsv", header, [*rows("en", 300), ("x", "y", "-")])
    for language in ("en", "de"):
        write_tsv(tmp_path, f"xnli/{language}.dev.tsv", header, rows(f"{language} dev", 90))
    folder = DataFolder(tmp_path)
    model = KnownVectors(known)
    abroad, english = Inference(fit=("en.small",)).measure(model, lambda: folder)
    assert abroad.value > 65
    assert english.by_language.keys() == {"en"}
    with pytest.raises(InputError, match=r"has no en\.large"):
        Inference(fit=("en.large",)).measure(model, lambda: folder)
    with pytest.raises(InputError, match="xnli has no file of fr") as caught:
        Inference(fit=("en.small",), languages=("de", "fr")).measure(model, lambda: folder)
    assert caught.value.field == "languages"
    french = KnownVectors(known, languages=("fr",))
    with pytest.raises(InputError, match="no dev file of these languages"):
        Inference(fit=("en.small",)).measure(french, lambda: folder)
    write_tsv(tmp_path, "nli/en.numbers.tsv", header, [("x", "y", "0"), ("x", "y", "1")])
    with pytest.raises(InputError, match=r"numbers\.tsv has no row with one of the labels"):
        Inference(fit=("en.numbers",)).measure(model, lambda: folder)


def test_senteval_folds_and_splits(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    texts = [f"t{i}" for i in range(200)]
    known = {text: random.normal(size=4) + 2 * (i % 2) for i, text in enumerate(texts)}
    rows = [(text, "01"[i % 2]) for i, text in enumerate(texts)]
    write_tsv(tmp_path, "senteval/cr.tsv", ("text", "label"), rows)
    write_tsv(tmp_path, "senteval/trec.train.tsv", ("text", "label"), rows[:100])
    write_tsv(tmp_path, "senteval/trec.test.tsv", ("text", "label"), rows[100:])
    model, folder = KnownVectors(known), DataFolder(tmp_path)
    (figure,) = SentEval(tasks=("cr", "trec")).measure(model, lambda: folder)
    assert min(figure.by_language.values()) > 85
    with pytest.raises(InputError, match="30 examples are too few for 31 folds"):
        SentEval(tasks=("cr",), most=30, folds=31).measure(model, lambda: folder)
    with pytest.raises(InputError, match="neither mpqa"):
        SentEval(tasks=("mpqa",)).measure(model, lambda: folder)
