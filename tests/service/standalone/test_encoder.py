from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest

from service import Encoder
from service.errors import InputError
from service.inference.encoder import Encoder as Inner
from service.inference.formats import to_format

TEXTS = ["The cat sleeps.", "Fresh bread", "", "Кошка спит на тёплом подоконнике у окна."]


@pytest.fixture(scope="module")
def encoder(tiny_bundle: Path) -> Encoder:
    return Encoder(tiny_bundle, workers=2)


def test_the_vectors_are_the_models_own(encoder: Encoder, tiny_encoder: Inner) -> None:
    vectors = encoder.encode(TEXTS, batch_size=1)
    np.testing.assert_allclose(vectors, tiny_encoder.encode(TEXTS), atol=1e-6)
    np.testing.assert_allclose(encoder.encode(TEXTS[0]), vectors[0], atol=1e-6)
    assert encoder.encode([]).shape == (0, encoder.dimension)


def test_every_argument_of_sentence_transformers_has_its_name_and_place() -> None:
    """As of sentence-transformers 6.2, less what is about several processes."""
    given = list(inspect.signature(Encoder.encode).parameters)[1:]
    theirs = [
        "prompt_name", "prompt", "batch_size", "show_progress_bar", "output_value", "precision",
        "convert_to_numpy", "convert_to_tensor", "device", "normalize_embeddings", "truncate_dim",
    ]  # fmt: skip
    assert given[1 : 1 + len(theirs)] == theirs


def test_a_call_as_other_packages_make_it(
    encoder: Encoder, tiny_encoder: Inner, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = encoder.encode(
        TEXTS, batch_size=2, show_progress_bar=True, convert_to_numpy=True,
        normalize_embeddings=True,
    )  # fmt: skip
    np.testing.assert_allclose(vectors, tiny_encoder.encode(TEXTS, normalize=True), atol=1e-6)
    assert capsys.readouterr().out == ""


def test_without_numpy_it_is_a_list_of_arrays(encoder: Encoder) -> None:
    rows = encoder.encode(TEXTS, convert_to_numpy=False)
    assert isinstance(rows, list)
    assert [row.shape for row in rows] == [(encoder.dimension,)] * len(TEXTS)


def test_prompts(tiny_bundle: Path, searching_bundle: Path) -> None:
    encoder = Encoder(searching_bundle)
    expected = encoder.encode("question: bread")
    np.testing.assert_array_equal(encoder.encode("bread", prompt_name="query"), expected)
    np.testing.assert_array_equal(encoder.encode("bread", prompt="question: "), expected)
    np.testing.assert_array_equal(encoder.encode_query(["bread"])[0], expected)
    document = encoder.encode("text: bread")
    np.testing.assert_array_equal(encoder.encode_document(["bread"])[0], document)
    by_default = Encoder(tiny_bundle, prompts={"p": "question: "}, default_prompt_name="p")
    np.testing.assert_array_equal(by_default.encode("bread"), expected)


@pytest.mark.parametrize("method", ["encode_query", "encode_document"])
def test_the_two_sides_of_a_search_take_what_encode_takes(tiny_bundle: Path, method: str) -> None:
    prompts = {"p": "other: ", "query": "question: "}
    encoder = Encoder(tiny_bundle, prompts=prompts, default_prompt_name="p")
    prompt = {"encode_query": "question: ", "encode_document": ""}[method]  # never the default
    encode = getattr(encoder, method)
    np.testing.assert_array_equal(encode("bread"), encoder.encode("bread", prompt=prompt))
    np.testing.assert_array_equal(encode("bread", "p"), encoder.encode("bread", "p"))
    arguments = {
        "batch_size": 1, "show_progress_bar": False, "convert_to_numpy": False, "device": "cpu",
        "truncate_dim": 8, "precision": "int8", "normalize_embeddings": True,
    }  # fmt: skip
    rows = encode(TEXTS, prompt="", **arguments)
    expected = encoder.encode(TEXTS, prompt="", truncate_dim=8, precision="int8")
    np.testing.assert_array_equal(rows, expected)


def test_dimensions_are_cut_then_scaled(tiny_bundle: Path, encoder: Encoder) -> None:
    cut = encoder.encode(TEXTS[:1], truncate_dim=4)
    assert cut.shape == (1, 4)
    assert np.linalg.norm(cut) == pytest.approx(1, abs=1e-6)
    narrow = Encoder(tiny_bundle, truncate_dim=4)
    np.testing.assert_array_equal(narrow.encode(TEXTS[:1]), cut)
    assert narrow.get_sentence_embedding_dimension() == 4


def test_precisions(encoder: Encoder) -> None:
    expected = to_format(np.asarray(encoder.encode(TEXTS), dtype=np.float32), "ubinary")
    np.testing.assert_array_equal(encoder.encode(TEXTS, precision="ubinary"), expected)


def test_similarity(encoder: Encoder) -> None:
    vectors = encoder.encode(TEXTS[:2], normalize_embeddings=False)
    matrix = encoder.similarity(vectors, 3 * np.asarray(vectors))
    np.testing.assert_allclose(matrix.diagonal(), 1, atol=1e-6)
    pairs = encoder.similarity_pairwise(vectors, np.asarray(vectors)[::-1])
    np.testing.assert_allclose(pairs, [matrix[0, 1], matrix[1, 0]], atol=1e-6)


def test_a_shipped_model_by_its_name() -> None:
    assert Encoder("interlingua-fast").dimension == 384


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"prompt_name": "nothing"}, "prompt_name"),
        ({"truncate_dim": 10_000}, "truncate_dim"),
        ({"truncate_dim": 0}, "truncate_dim"),
        ({"precision": "uint8"}, "precision"),
        ({"batch_size": -1}, "batch_size"),
        ({"device": "cuda"}, "device"),
        ({"output_value": "token_embeddings"}, "output_value"),
    ],
)
def test_what_is_not_to_be_had_is_said(
    encoder: Encoder, arguments: dict[str, object], field: str
) -> None:
    with pytest.raises(InputError) as caught:
        encoder.encode(TEXTS, **arguments)  # type: ignore[call-overload]
    assert caught.value.field == field
    assert caught.value.remedy
