"""Pivot paths, and the loss of Li 2021, eq. 4.21, put together."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from training.data.batches import Sentences
from training.data.translation import TranslationBatch
from training.decoders.laser import LaserDecoder
from training.encoders.recurrent import RecurrentEncoder, blstm_layers, token_vectors
from training.encoders.states import SentenceEncoder
from training.pivots import PivotParameters, pivot_mixture, pivot_terms
from training.sentence_vectors import MaxPooling
from training.translation import SHARED, ByLanguage, TranslationSystem

LANGUAGES = ("en", "de", "fr", "es", "it")
DE = Sentences(torch.tensor([3, 4, 5, 9, 2]), torch.tensor([3, 2]))
EN = Sentences(torch.tensor([7, 8, 6]), torch.tensor([1, 2]))


def test_the_eight_directions_of_the_thesis() -> None:
    paths = pivot_mixture(LANGUAGES, ("en", "es"), constrained=False).paths
    assert {f"{path.sources[0]}-{path.targets[0]}" for path in paths} == {
        *("de-en", "de-es", "en-es", "es-en"),
        *("fr-en", "fr-es", "it-en", "it-es"),
    }


def test_under_the_constraint_the_target_is_encoded_too() -> None:
    for path in pivot_mixture(LANGUAGES, ("en", "es"), constrained=True).paths:
        assert path.sources == (path.sources[0], path.targets[0])
        assert path.sources[0] != path.targets[0]


def make(beta: float) -> TranslationSystem:
    torch.manual_seed(0)
    tokens = RecurrentEncoder(token_vectors(12, 6), blstm_layers(6, 4, 1))
    decoder = LaserDecoder(12, embedding=6, hidden=5, vector=8, languages=("en",), dropout=0.0)
    terms = pivot_terms(PivotParameters(steps=1, beta=beta, draws=1), smoothing=0.1)
    return TranslationSystem(
        ByLanguage({SHARED: SentenceEncoder(tokens, MaxPooling())}),
        ByLanguage({SHARED: decoder}),
        terms,
    )


def test_eq_4_21() -> None:
    """With two sentences the one that can be drawn is the other, so nothing is left to chance."""
    system = make(beta=0.3)
    losses = system(TranslationBatch({"de": DE, "en": EN}, {"en": EN}))
    encoder, decoder = system.encoder("de"), system.decoders.of("en")
    logits = decoder(encoder.encode(DE), EN, "en").logits.detach().double().numpy()
    logp = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    answers = [7, 0, 8, 6, 0]
    smoothed = [
        -0.9 * row[answer] - 0.1 * row.mean() for row, answer in zip(logp, answers, strict=True)
    ]
    assert losses["translation"].item() == pytest.approx(0.5 * sum(smoothed) / 2, rel=1e-5)
    a, b = (encoder(side).detach().double().numpy() for side in (DE, EN))
    distances = np.array([[np.sqrt(((x - y) ** 2).sum()) for y in b] for x in a])
    distances /= distances.mean() + 1e-6
    deltas = [max(0, 0.5 - distances[i, 1 - i] + distances[i, i]) for i in (0, 1)]
    expected = 0.3 * (distances.diagonal().mean() + np.mean(deltas))
    assert losses["distance"].item() == pytest.approx(expected, rel=1e-4)


def test_the_target_is_not_decoded_from_itself() -> None:
    system = make(beta=0.3)
    batch = TranslationBatch({"de": DE, "en": EN}, {"en": EN})
    before = system(batch)["translation"]
    for other in (EN, Sentences(torch.tensor([1, 2, 3]), EN.lengths)):
        again = system(TranslationBatch({"de": DE, "en": other}, {"en": EN}))["translation"]
        assert torch.equal(before, again)


def test_without_the_constraint_the_translation_loss_stands_alone() -> None:
    assert set(make(beta=0.0)(TranslationBatch({"de": DE}, {"en": EN}))) == {"translation"}


def test_the_decoder_has_one_set_of_weights_for_all_languages() -> None:
    system = make(beta=0.0)
    assert isinstance(system.decoders.of("en"), nn.Module)
    assert system.decoders.of("en") is system.decoders.of("es")
    assert system.encoder("de") is system.encoder("it")
