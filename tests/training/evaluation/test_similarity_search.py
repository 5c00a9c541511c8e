"""Search, P@N, large search and n-best lists against plain loops."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from service.errors import InputError, NotFoundError
from tests.training.evaluation.known_vectors import KnownVectors, drawn, write_nway
from training.evaluation.large_search import LargeSearch
from training.evaluation.n_best import NBest, n_best, precision_by_cosine
from training.evaluation.precision_at import PrecisionAt, precision_at
from training.evaluation.similarity_search import SimilaritySearch

ROWS = 40
COLUMNS = {code: [f"{code} {i}" for i in range(ROWS)] for code in ("en", "de", "fr")}


def _model(noise: float = 0.9) -> KnownVectors:
    meaning = np.random.default_rng(1).normal(size=(ROWS, 6))
    known = {}
    for place, texts in enumerate(COLUMNS.values()):
        random = np.random.default_rng(place)
        for i, text in enumerate(texts):
            known[text] = 3 * (meaning[i] + noise * random.normal(size=6))
    return KnownVectors(known, tuple(COLUMNS))


def test_algorithm_1_by_loops(tmp_path: Path) -> None:
    folder = write_nway(tmp_path, "news", COLUMNS)
    model = _model()
    (figure,) = SimilaritySearch(source="news", rows=(0, 99)).measure(model, lambda: folder)
    errors = []
    for p, q in itertools.permutations(COLUMNS, 2):
        cosines = cosine_similarity(model.encode(COLUMNS[p]), model.encode(COLUMNS[q]))
        wrong = sum(int(np.argmax(row)) != i for i, row in enumerate(cosines))
        errors.append(100 * wrong / ROWS)
        assert figure.matrix[p][q] == pytest.approx(errors[-1])
    assert figure.value == pytest.approx(np.mean(errors))
    assert 0 < figure.value < 100


def test_a_partners_vectors_are_searched_where_it_knows_the_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_nway(tmp_path, "news", COLUMNS)
    model, partner = _model(), _model()
    partner.languages = ("en",)
    partner.known = {text: -vector for text, vector in partner.known.items()}
    monkeypatch.setattr("training.evaluation.models.open_model", lambda _: partner)
    (plain,) = SimilaritySearch(source="news", rows=(0, 99)).measure(model, lambda: folder)
    search = SimilaritySearch(source="news", rows=(0, 99), partner="another")
    (figure,) = search.measure(model, lambda: folder)
    assert set(figure.matrix) == {"de", "fr"}
    assert set(figure.matrix["de"]) == {"en"}
    assert figure.dataset == "news, 40 rows, searched by known"
    assert figure.value > plain.value  # the farthest in place of the nearest


def test_rows_are_complete_and_no_sentence_comes_twice(tmp_path: Path) -> None:
    columns = {"en": ["a", "", "a", "c", "d"], "de": ["A", "B", "C", "D", "E"]}
    folder = write_nway(tmp_path, "news", columns)
    model = KnownVectors(drawn("acdADE", 4, seed=0))
    (figure,) = SimilaritySearch(source="news", rows=(0, 99)).measure(model, lambda: folder)
    assert figure.dataset == "news, 3 rows"


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    folder = write_nway(tmp_path, "news", COLUMNS)
    with pytest.raises(InputError, match="has no ja: it has de, en, fr"):
        SimilaritySearch(source="news", languages=("en", "ja")).measure(_model(), lambda: folder)
    with pytest.raises(NotFoundError, match="no source of that name"):
        SimilaritySearch(source="nws").measure(_model(), lambda: folder)
    with pytest.raises(InputError, match="fewer than two rows"):
        SimilaritySearch(source="news", rows=(39, 99)).measure(_model(), lambda: folder)
    with pytest.raises(InputError, match="2 languages or more"):
        SimilaritySearch(source="news", languages=("en",)).measure(_model(), lambda: folder)
    model = _model()
    model.needs_language = True
    with pytest.raises(InputError, match="an encoder a language, and none for ja"):
        SimilaritySearch(source="news", languages=("en", "ja")).measure(model, lambda: folder)


def test_precision_at_n_of_all_others_is_a_rank() -> None:
    random = np.random.default_rng(0)
    queries = random.normal(size=(30, 5)).astype(np.float32)
    targets = (queries + random.normal(size=(30, 5))).astype(np.float32)
    scores = queries @ targets.T
    ranks = (scores >= scores.diagonal()[:, None]).sum(1)  # its own is one of them
    for best in (1, 3):
        expected = 100 * float((ranks <= best).mean())
        assert precision_at(queries, targets, best=best, others=29) == pytest.approx(expected)
    alike = np.ones((30, 5), dtype=np.float32)
    assert precision_at(alike, alike, best=1, others=10) == 0
    fewer = precision_at(queries, targets, best=1, others=3)
    assert fewer > precision_at(queries, targets, best=1, others=29)


def test_precision_is_measured_from_the_pivot(tmp_path: Path) -> None:
    folder = write_nway(tmp_path, "news", COLUMNS)
    model = _model()
    (figure,) = PrecisionAt(source="news").measure(model, lambda: folder)
    assert set(figure.by_language) == {"de", "fr"}
    assert figure.metric == "P@1 among 40 from en, %"
    with pytest.raises(InputError, match="pivot"):
        PrecisionAt(source="news", pivot="xx").measure(model, lambda: folder)


def test_a_crowd_makes_the_search_harder(tmp_path: Path) -> None:
    write_nway(tmp_path, "crowd", {code: [f"other {i}" for i in range(300)] for code in COLUMNS})
    folder = write_nway(tmp_path, "news", COLUMNS)
    known = dict(_model().known)
    known |= drawn([f"other {i}" for i in range(300)], 6, seed=9)
    model = KnownVectors(known, tuple(COLUMNS))
    alone, crowded = (
        LargeSearch(source="news", crowd=crowd).measure(model, lambda: folder)[0]
        for crowd in ((), ("crowd",))
    )
    (plain,) = SimilaritySearch(source="news", rows=(0, 99)).measure(model, lambda: folder)
    assert alone.value == pytest.approx(plain.value)
    everything = np.concatenate(
        [model.encode(COLUMNS["de"]), model.encode([f"other {i}" for i in range(300)])]
    )
    found = cosine_similarity(model.encode(COLUMNS["en"]), everything).argmax(1)
    assert crowded.matrix["en"]["de"] == pytest.approx(100 * np.mean(found != np.arange(ROWS)))
    assert crowded.value > alone.value
    assert "among 340 to 340" in crowded.dataset


def test_n_best_lists_leave_the_query_out() -> None:
    unit = np.eye(3, dtype=np.float32)
    unit[1] = [0.8, 0.6, 0]
    first, *_ = n_best(unit, unit, ["a", "b", "c"], count=1, skip_own=True)
    assert [(near.text, round(near.cosine, 4)) for near in first] == [("b", 0.8)]
    first, *_ = n_best(unit, unit, ["a", "b", "c"], count=2, skip_own=False)
    assert [near.text for near in first] == ["a", "b"]


def test_precision_of_the_upper_and_the_lower_half(tmp_path: Path) -> None:
    queries = np.eye(4, dtype=np.float32)
    targets = queries.copy()
    targets[[2, 3]] = [[0, 0, 0.1, 0.9], [0, 0, 0.8, 0.1]]  # two wrong ones, further off
    assert precision_by_cosine(queries, targets) == (100.0, 0.0)
    folder = write_nway(tmp_path, "news", COLUMNS)
    upper, lower = NBest(source="news").measure(_model(), lambda: folder)
    assert upper.value > lower.value
