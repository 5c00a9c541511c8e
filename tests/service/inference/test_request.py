"""What is made of a request's texts before they wait."""

from __future__ import annotations

import pytest

from service.errors import InputError
from service.inference.encoder import Encoder
from service.inference.request import EmbedOptions, check_dimensions, prepare
from tests.tiny_bundle import MAX_TOKENS


def test_texts_keep_their_places_and_their_ends(tiny_encoder: Encoder) -> None:
    texts = ["cat " * 200, "cat", "dog " * 200]
    prepared = prepare(tiny_encoder, texts, EmbedOptions())
    (group,) = prepared.groups
    assert group.positions == [0, 1, 2]
    assert prepared.truncated == [0, 2]
    assert prepared.lengths == [len(tokens) for tokens in group.tokens]
    assert prepared.lengths[0] == prepared.lengths[2] == MAX_TOKENS > prepared.lengths[1]
    end = prepare(tiny_encoder, ["dog " + "cat " * 200], EmbedOptions(cut="left"))
    begin = prepare(tiny_encoder, ["dog " + "cat " * 200], EmbedOptions())
    assert end.groups[0].tokens[0] != begin.groups[0].tokens[0]


def test_what_was_cut_is_told_in_the_order_of_the_texts(two_towers: Encoder) -> None:
    texts = ["Die Katze schläft. " * 50, "The cat sleeps. " * 50, "Die Katze schläft. " * 50]
    prepared = prepare(two_towers, texts, EmbedOptions())
    assert [group.positions for group in prepared.groups] == [[0, 2], [1]]
    assert prepared.languages == ["de", "en", "de"]
    assert prepared.truncated == [0, 1, 2]


def test_the_first_text_that_must_not_be_cut_is_named(tiny_encoder: Encoder) -> None:
    with pytest.raises(InputError, match=r"Text 1 has \d+ tokens") as caught:
        prepare(tiny_encoder, ["cat", "cat " * 200], EmbedOptions(truncate=False))
    assert caught.value.field == "inputs[1]"


def test_dimensions_are_those_of_the_model_or_fewer(tiny_encoder: Encoder) -> None:
    for dimensions in (None, 1, tiny_encoder.dimension):
        check_dimensions(tiny_encoder.manifest, dimensions)
    with pytest.raises(InputError, match="Ask for 1 to 16"):
        check_dimensions(tiny_encoder.manifest, tiny_encoder.dimension + 1)
