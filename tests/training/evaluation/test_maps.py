"""Maps: what is counted, and that pictures are drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from service.errors import InputError
from tests.training.evaluation.known_vectors import KnownVectors, drawn, write_tsv
from training.data.folder import DataFolder
from training.evaluation.calendar_words import CALENDAR
from training.evaluation.maps import DocumentMap, WordMap, same_class_abroad


def test_every_language_names_all_days_and_months() -> None:
    assert {len(set(words)) for words in CALENDAR.values()} == {19}


def test_words_of_one_place_are_found(tmp_path: Path) -> None:
    english = drawn(CALENDAR["en"], 5, seed=0)
    known = dict(english)
    for a, b in zip(CALENDAR["en"], CALENDAR["de"], strict=True):
        known[b] = english[a]
    picture = tmp_path / "pictures/map.svg"
    (figure,) = WordMap(languages=("en", "de"), picture=picture).measure(
        KnownVectors(known), lambda: DataFolder(tmp_path)
    )
    assert figure.value == 100
    assert "Mittwoch" in picture.read_text() or picture.stat().st_size > 5000
    with pytest.raises(InputError, match=r"end in \.svg"):
        WordMap(languages=("en", "de"), picture=tmp_path / "map.gif").measure(
            KnownVectors(known), lambda: DataFolder(tmp_path)
        )
    with pytest.raises(InputError, match="Names of weekdays"):
        WordMap(languages=("en", "sw")).measure(
            KnownVectors(known, ("en", "sw")), lambda: DataFolder(tmp_path)
        )


def test_neighbours_abroad_are_those_of_scikit_learn(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    labels, languages = list("aabbaabbab"), list("xxxxxyyyyy")
    vectors = random.normal(size=(10, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    hits = []
    for home, away in (("x", "y"), ("y", "x")):
        here = [i for i, name in enumerate(languages) if name == home]
        there = [i for i, name in enumerate(languages) if name == away]
        found = NearestNeighbors(n_neighbors=3, metric="cosine").fit(vectors[there])
        for i, near in zip(here, found.kneighbors(vectors[here])[1], strict=True):
            hits += [labels[there[j]] == labels[i] for j in near]
    assert same_class_abroad(vectors, labels, languages, count=3) == pytest.approx(
        100 * np.mean(hits)
    )


def test_documents_gather_by_class(tmp_path: Path) -> None:
    known: dict[str, np.ndarray] = {}
    for language in ("en", "de"):
        rows = [(f"{language} {i}", "ab"[i % 2]) for i in range(12)]
        write_tsv(tmp_path, f"news/{language}.train.tsv", ("text", "label"), rows)
        known |= {text: np.eye(2)[i % 2] + 0.01 * i for i, (text, _) in enumerate(rows)}
    picture = tmp_path / "map.png"
    reached, chance = DocumentMap(sets=("news",), picture=picture).measure(
        KnownVectors(known), lambda: DataFolder(tmp_path)
    )
    assert (reached.value, chance.value) == (100.0, 50.0)
    assert picture.read_bytes().startswith(b"\x89PNG")
