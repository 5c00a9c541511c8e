"""Batches of taught sentences: what they hold, their limits, and going on where they were."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
import torch

from service.text.vocabulary import Vocabulary, WordTokenizer
from tests.training.made import LANGUAGES, make_corpus, make_tokens
from training.data.mixing import Mixing
from training.data.scored_batches import ScoredBatches
from training.data.scored_pairs import ScoredPairs
from training.data.taught_batches import TaughtBatch, TaughtBatches, TaughtPlan
from training.teacher import TeacherVectors

CORPUS = make_corpus({"de": 60, "fr": 20})
TOKENS = make_tokens(CORPUS)
PLAN = TaughtPlan(tokens=60, most=12, longest=8, negatives=3, english=0.25)


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.data.taught_batches._CHUNK", 200)


def make_batches(**changes: object) -> TaughtBatches:
    english = np.flatnonzero(CORPUS.language == LANGUAGES.index("en"))[:70]  # not all are taught
    row = np.full(len(CORPUS.texts), -1, dtype=np.int64)
    row[english] = np.arange(len(english))
    # A vector's first number says which sentence it is of.
    vectors = np.zeros((len(english), 4), dtype=np.float16)
    vectors[:, 0] = english
    teacher = TeacherVectors(row, vectors)
    return TaughtBatches(CORPUS, TOKENS, teacher, Mixing(), PLAN, seed=1, **changes)  # type: ignore[arg-type]


def test_pairs_with_scores_come_by_the_number_of_the_batch() -> None:
    tokenizer = WordTokenizer(Vocabulary(lower=True, words=("hand", "foot", "head")))
    pairs = ScoredPairs("made", "en", ["hand", "foot"], ["head foot", "head"], [1.0, 2.0])
    scored = ScoredBatches([pairs], tokenizer, size=2, longest=4, seed=0)
    batches = make_batches(scored=scored)
    for number in range(3):
        batch = batches.draw()
        assert batch.scored is not None
        torch.testing.assert_close(batch.scored.scores, scored.batch(number).scores)
        assert batch.words == len(batch.sentences.ids) + 5
        assert batch.to(torch.device("cpu")).scored is not None
    assert make_batches().draw().scored is None


def sentences_of(batch: TaughtBatch) -> list[tuple[int, ...]]:
    ids, ends = batch.sentences.ids.tolist(), batch.sentences.lengths.cumsum(0).tolist()
    return [tuple(ids[start:end]) for start, end in itertools.pairwise([0, *ends])]


def test_a_sentence_comes_with_the_vector_of_its_english() -> None:
    meant: dict[tuple[int, ...], set[int]] = {}
    for foreign, english in CORPUS.pairs:
        for sentence in (foreign, english):
            ids = tuple(TOKENS.ids[TOKENS.offsets[sentence] : TOKENS.offsets[sentence + 1]][:8])
            meant.setdefault(tuple(map(int, ids)), set()).add(int(english))
    batches = make_batches()
    for _ in range(40):
        batch = batches.draw()
        for ids, target in zip(sentences_of(batch), batch.targets[:, 0].tolist(), strict=True):
            assert int(target) in meant[ids]


def test_batches_keep_to_their_limits_and_hardly_pad() -> None:
    batches, filled, tokens = make_batches(), 0, 0
    for _ in range(40):
        batch = batches.draw()
        lengths = batch.sentences.lengths
        rectangle = len(lengths) * int(lengths.max())
        assert len(lengths) <= PLAN.most
        assert rectangle <= PLAN.tokens
        assert int(lengths.max()) <= PLAN.longest
        assert batch.negatives.shape == (3, 4)
        filled += rectangle
        tokens += batch.words
    assert tokens / filled > 0.9


def test_a_chunk_holds_as_much_english_as_the_plan_says() -> None:
    batches = make_batches()
    seen: Counter[bool] = Counter()
    drawn = batches._draw_chunk()
    for examples in drawn:
        seen.update((examples[:, 0] == examples[:, 1]).tolist())
    assert seen[True] == 50
    assert seen[False] == 150


def test_english_is_drawn_by_its_tokens() -> None:
    batches, tokens = make_batches(), TOKENS.lengths.clip(max=PLAN.longest)
    times: Counter[int] = Counter()
    for batches._chunk in range(400):
        for examples in batches._draw_chunk():
            own = examples[:, 0] == examples[:, 1]
            times.update(examples[own, 0].tolist())
    taught = np.array(sorted(times))
    expected = tokens[taught] / tokens[taught].sum() * 400 * 50
    found = np.array([times[sentence] for sentence in taught.tolist()])
    assert len(taught) == 70
    assert np.abs(found - expected).max() < 6 * np.sqrt(expected.max())  # of a Poisson's spread


def test_it_goes_on_where_it_was() -> None:
    whole = make_batches()
    for _ in range(25):
        whole.draw()
    state = whole.state_dict()
    assert int(str(state["chunk"])) > 0
    other = make_batches()
    other.load_state_dict(state)
    for _ in range(30):
        one, same = whole.draw(), other.draw()
        assert one.number == same.number
        assert one.sentences.ids.tolist() == same.sentences.ids.tolist()
        assert one.negatives.tolist() == same.negatives.tolist()
