from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from service.bundle.reader import Bundle, read_bundle
from service.errors import InputError
from service.inference.encoder import DOCUMENT_PROMPTS, Encoder, prompt_among
from tests.tiny_bundle import SENTENCES


def test_one_text_gives_one_vector(tiny_encoder: Encoder) -> None:
    assert tiny_encoder.encode(SENTENCES[0]).shape == (16,)
    assert tiny_encoder.encode([]).shape == (0, 16)


def test_a_text_has_the_same_vector_alone_and_in_a_batch(tiny_encoder: Encoder) -> None:
    together = tiny_encoder.encode(SENTENCES)
    for text, vector in zip(SENTENCES, together, strict=True):
        np.testing.assert_allclose(tiny_encoder.encode(text), vector, atol=1e-6)


def test_vectors_have_length_one_but_blank_text_has_zero(tiny_encoder: Encoder) -> None:
    vectors = tiny_encoder.encode([SENTENCES[0], "", "  "])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 0, 0], atol=1e-6)


def test_cut_vector_is_the_start_of_the_raw_one_scaled(tiny_encoder: Encoder) -> None:
    raw = tiny_encoder.encode(SENTENCES[0], normalize=False)
    cut = tiny_encoder.encode(SENTENCES[0], dimensions=8)
    np.testing.assert_allclose(cut, raw[:8] / np.linalg.norm(raw[:8]), atol=1e-6)


def test_the_default_prompt_is_put_before_texts_as_the_server_does(
    tiny_bundle: Path, tiny_encoder: Encoder
) -> None:
    bundle = read_bundle(tiny_bundle)
    manifest = bundle.manifest.model_copy(update={"default_prompt": "ask"})
    prompted = Encoder(Bundle(tiny_bundle, manifest))
    expected = tiny_encoder.encode(["question: bread", "question: "])
    np.testing.assert_allclose(prompted.encode(["bread", ""]), expected, atol=1e-6)
    np.testing.assert_allclose(prompted.encode("bread"), expected[0], atol=1e-6)
    plain = tiny_encoder.encode("bread")
    np.testing.assert_allclose(prompted.encode("bread", prefix=""), plain, atol=1e-6)


def test_a_side_of_a_search_has_the_first_prompt_that_says_something() -> None:
    prompts = {"query": "q: ", "document": "", "passage": "text: ", "corpus": "c: "}
    assert prompt_among(prompts, DOCUMENT_PROMPTS) == "passage"
    assert prompt_among({"document": ""}, DOCUMENT_PROMPTS) == "document"
    assert prompt_among({"query": "q: "}, DOCUMENT_PROMPTS) is None


def test_language_chooses_the_tower(two_towers: Encoder) -> None:
    text = "Die Katze schläft auf der warmen Fensterbank."
    german = two_towers.encode(text, language="de")
    english = two_towers.encode(text, language="en")
    assert abs(float(german @ english)) < 0.99
    np.testing.assert_array_equal(two_towers.encode(text), german)  # detected


def test_mixed_languages_keep_their_order(two_towers: Encoder) -> None:
    mixed = [SENTENCES[0], SENTENCES[3], SENTENCES[1], SENTENCES[4]]
    languages = ["en", "de", "en", "de"]
    expected = [
        two_towers.encode(t, language=lang) for t, lang in zip(mixed, languages, strict=True)
    ]
    np.testing.assert_allclose(two_towers.encode(mixed), expected, atol=1e-6)


def test_language_without_a_tower_is_refused(two_towers: Encoder) -> None:
    with pytest.raises(InputError) as caught:
        two_towers.encode("Le chat dort.", language="fr")
    assert caught.value.field == "language"
    assert "en, de" in str(caught.value)
