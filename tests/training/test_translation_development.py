"""Perplexity and similarity search error of a translation system."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from tests.training.translation_parts import (
    TERMS,
    VOCABULARY,
    make_decoder,
    make_encoder,
    make_system,
)
from training.data.parallel_rows import MISSING, ParallelRows
from training.data.tokens import TokenTable
from training.paths import TrainingPath, even
from training.translation import SHARED, ByLanguage, TranslationSystem
from training.translation_development import TranslationDevelopment

ROWS = ParallelRows(("en", "fr", "es"), np.arange(60).reshape(20, 3))


def make_tokens(*, same: bool) -> TokenTable:
    """Return ids; `same`: the sentences of a row are the same tokens in all languages."""
    random = np.random.default_rng(0)
    sentences = [random.integers(1, VOCABULARY, random.integers(2, 9)) for _ in range(20)]
    flat = [sentences[i // 3] if same else random.permutation(sentences[i // 3]) for i in range(60)]
    lengths = list(map(len, flat))
    return TokenTable(
        np.concatenate(flat).astype(np.int32), np.concatenate([[0], np.cumsum(lengths)])
    )


def measure(
    system: TranslationSystem, tokens: TokenTable, rows: ParallelRows = ROWS
) -> dict[str, float]:
    mixture = even([TrainingPath(("en",), ("es",)), TrainingPath(("fr",), ("es",))])
    return TranslationDevelopment(
        system, rows, tokens, mixture, longest=50, device=torch.device("cpu")
    )()


def test_a_decoder_that_knows_nothing_is_as_surprised_as_can_be() -> None:
    system = make_system(("en", "fr"), ("es",))
    for decoder in system.decoders.parts.values():
        output = decoder.output
        assert isinstance(output, nn.Linear)
        nn.init.zeros_(output.weight)
        nn.init.zeros_(output.bias)
    assert measure(system, make_tokens(same=False))["perplexity"] == pytest.approx(VOCABULARY)


def test_perplexity_is_exp_of_the_mean_loss() -> None:
    system = make_system(("en", "fr"), ("es",)).eval()
    tokens = make_tokens(same=False)
    found = measure(system, tokens)["perplexity"]
    from training.data.translation_batches import translation_batch

    surprises = []
    for source in ("en", "fr"):
        path = TrainingPath((source,), ("es",))
        batch = translation_batch(path, ROWS.complete(path.languages), tokens)
        surprises.append(float(system(batch)["translation"].detach()))
    assert found == pytest.approx(math.exp(sum(surprises) / 2), rel=1e-5)


def test_equal_vectors_find_each_other() -> None:
    torch.manual_seed(0)
    encoder = make_encoder()
    shared = TranslationSystem(
        ByLanguage({SHARED: encoder}), ByLanguage({SHARED: make_decoder(("es",))}), TERMS
    )
    assert measure(shared, make_tokens(same=True))["search_error"] == 0
    apart = make_system(("en", "fr"), ("es",))
    assert measure(apart, make_tokens(same=False))["search_error"] > 50


def test_without_rows_nothing_is_measured() -> None:
    system = make_system(("en", "fr"), ("es",))
    empty = ParallelRows(ROWS.languages, np.full((4, 3), MISSING))
    assert measure(system, make_tokens(same=True), empty) == {}
