"""Documents are the mean of their sentences."""

from pathlib import Path

import numpy as np
import pytest

from service.inference.encoder import Encoder
from tests.tiny_bundle import DIMENSION, make_tiny_bundle
from training.evaluation.documents import document_vectors, split_sentences, split_windows


@pytest.mark.parametrize(
    ("document", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("猫。犬！鳥", ["猫。", "犬！", "鳥"]),
        ("A line\n\n  another  \n", ["A line", "another"]),
        ("Hello there || Hi", ["Hello there", "Hi"]),
        ("It costs 3.50 now.", ["It costs 3.50 now."]),
        ("  ", []),
    ],
)
def test_where_sentences_end(document: str, sentences: list[str]) -> None:
    assert split_sentences(document) == sentences


def test_the_mean_of_the_sentences(tmp_path: Path) -> None:
    encoder = Encoder(make_tiny_bundle(tmp_path / "tiny"))
    documents = ["The cat sleeps. Fresh bread smells best.", "", "Rivers carry sand."]
    vectors = document_vectors(encoder, documents, "en")
    first = encoder.encode(["The cat sleeps.", "Fresh bread smells best."], normalize=False)
    np.testing.assert_allclose(vectors[0], first.mean(0), atol=1e-6)
    assert not vectors[1].any()
    assert vectors.shape == (3, DIMENSION)


def test_windows_overlap_by_half() -> None:
    document = " ".join(map(str, range(10)))
    assert split_windows(document, width=4, stride=2) == [
        "0 1 2 3",
        "2 3 4 5",
        "4 5 6 7",
        "6 7 8 9",
    ]
    assert split_windows("a b || c", width=4, stride=2) == ["a b c"]
    assert split_windows(" ") == []


def test_the_greatest_of_the_parts(tmp_path: Path) -> None:
    encoder = Encoder(make_tiny_bundle(tmp_path / "tiny"))
    parts = encoder.encode(["The cat sleeps.", "Rivers carry sand."], normalize=False)
    (vector,) = document_vectors(
        encoder, ["The cat sleeps. Rivers carry sand."], "en", pooling="max"
    )
    np.testing.assert_allclose(vector, parts.max(0), atol=1e-6)
    (window,) = document_vectors(encoder, ["Rivers carry sand."], "en", segments="window")
    np.testing.assert_allclose(window, parts[1], atol=1e-6)


def test_a_whole_document_is_one_text(tmp_path: Path) -> None:
    encoder = Encoder(make_tiny_bundle(tmp_path / "tiny"))
    document = "The cat sleeps. Rivers carry sand."
    vectors = document_vectors(encoder, [document, " "], "en", segments="whole")
    np.testing.assert_array_equal(vectors[0], encoder.encode(document, normalize=False))
    assert not vectors[1].any()
