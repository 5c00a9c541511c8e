"""Pairs with noise: who is drawn, how often, and that it can be gone on with."""

import numpy as np
import pytest
import torch

from service.errors import InputError
from tests.training.made import make_corpus, make_tokens
from training.data.batches import Sentences
from training.data.noise import NoiseBatch, NoiseBatches

CORPUS = make_corpus({"de": 23, "fr": 11})
TOKENS = make_tokens(CORPUS, vocabulary=100_000)


def make(*, pool: int | None = None, seed: int = 3) -> NoiseBatches:
    return NoiseBatches(CORPUS, TOKENS, size=5, noise=4, pool=pool, seed=seed)


def texts(sentences: Sentences) -> list[str]:
    """Look sentences up by their ids, which no two share."""
    known = {
        tuple(TOKENS.ids[TOKENS.offsets[i] : TOKENS.offsets[i + 1]].tolist()): text
        for i, text in enumerate(CORPUS.texts)
    }
    ids, ends = sentences.ids.tolist(), sentences.lengths.cumsum(0).tolist()
    starts = [0, *ends[:-1]]
    return [known[tuple(ids[start:end])] for start, end in zip(starts, ends, strict=True)]


def same(one: NoiseBatch, other: NoiseBatch) -> bool:
    return one.languages == other.languages and all(
        torch.equal(getattr(one, side).ids, getattr(other, side).ids)
        for side in ("source", "target", "noise")
    )


def test_a_round_goes_through_all_pairs_once() -> None:
    batches = make()
    assert (batches.pairs, batches.batches) == (34, 8)
    for _ in range(2):
        seen = []
        for _ in range(8):
            batch = batches.draw()
            source, target = texts(batch.source), texts(batch.target)
            assert batch.languages == ("en", target[0][:2])
            assert source == [f"en {text}" for text in target]
            seen += target
        assert sorted(seen) == sorted(t for t in CORPUS.texts if not t.startswith("en"))


@pytest.mark.parametrize("pool", [None, 6])
def test_noise_is_of_the_targets_language(pool: int | None) -> None:
    batch = make(pool=pool).draw()
    assert batch.picks.shape == (len(batch.source), 4)
    assert len(batch.noise) == (pool or 4 * len(batch.source))
    assert {text[:2] for text in texts(batch.noise)} == {batch.languages[1]}
    assert 0 <= int(batch.picks.min()) <= int(batch.picks.max()) < len(batch.noise)


def test_without_a_pool_each_pair_has_sentences_of_its_own() -> None:
    picks = make().draw().picks
    assert len(set(picks.flatten().tolist())) == picks.numel()


def test_noise_differs_from_round_to_round() -> None:
    batches = make()
    drawn = [batches.draw() for _ in range(16)]
    assert not any(same(one, other) for one in drawn[:8] for other in drawn[8:])


def test_noise_differs_from_batch_to_batch() -> None:
    batches = make(pool=6)
    drawn = [tuple(texts(batch.noise)) for batch in (batches.draw() for _ in range(16))]
    assert len(set(drawn)) == 16


def test_goes_on_exactly_where_it_was() -> None:
    batches = make()
    for _ in range(11):
        batches.draw()
    state = batches.state_dict()
    expected = [batches.draw() for _ in range(8)]
    resumed = make()
    resumed.load_state_dict(state)
    assert all(same(batch, resumed.draw()) for batch in expected)


def test_a_corpus_without_the_pivot_is_refused() -> None:
    with pytest.raises(InputError, match="no pair with fr"):
        NoiseBatches(make_corpus({"de": 3}), TOKENS, size=2, noise=1, pool=None, seed=0, pivot="fr")


def test_words_counts_all_that_is_encoded() -> None:
    batch = make(pool=6).draw()
    assert batch.words == np.sum(
        [int(side.lengths.sum()) for side in (batch.source, batch.target, batch.noise)]
    )
