"""Homogeneous batches of training paths."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import InputError
from training.data.parallel_rows import ParallelRows
from training.data.tokens import TokenTable
from training.data.translation import TranslationBatch
from training.data.translation_batches import BatchLimits, TranslationBatches
from training.paths import Mixture, TrainingPath, even, one_to_many, table_3

LANGUAGES = ("en", "fr", "es", "ar")


def make_source(
    mixture: Mixture, limits: BatchLimits, *, rows: int = 200, seed: int = 0
) -> TranslationBatches:
    """Row i of language l is the sentence `i + rows * l`, whose tokens are all that number."""
    numbers = np.arange(rows * len(LANGUAGES)).reshape(len(LANGUAGES), rows).T
    lengths = np.random.default_rng(3).integers(1, 30, numbers.size)
    tokens = TokenTable(
        np.repeat(np.arange(numbers.size), lengths).astype(np.int32),
        np.concatenate([[0], np.cumsum(lengths)]),
    )
    return TranslationBatches(
        ParallelRows(LANGUAGES, numbers), tokens, mixture, limits=limits, seed=seed
    )


def first_tokens(batch: TranslationBatch, language: str) -> list[int]:
    side = {**batch.sources, **batch.targets}[language]
    return side.ids[side.offsets].tolist()


LIMITS = BatchLimits(tokens=400, longest=40)


def test_all_languages_of_a_batch_say_the_same() -> None:
    source = make_source(even(one_to_many(LANGUAGES)), LIMITS)
    for _ in range(20):
        batch = source.draw()
        rows = [
            [token - 200 * LANGUAGES.index(language) for token in first_tokens(batch, language)]
            for language in (*batch.sources, *batch.targets)
        ]
        assert len(rows) == 4
        assert all(row == rows[0] for row in rows)


def test_batches_are_homogeneous_and_drawn_by_coefficient() -> None:
    mixture = table_3("12c", ("en", "fr", "es"), "ar")
    source = make_source(mixture, BatchLimits(tokens=400, sentences=4))
    drawn: Counter[str] = Counter()
    for _ in range(2000):
        batch = source.draw()
        drawn[str(TrainingPath(tuple(batch.sources), tuple(batch.targets)))] += 1
    expected = {str(p): 2000 * s for p, s in zip(mixture.paths, mixture.shares, strict=True)}
    assert set(drawn) == set(expected)
    for path, count in expected.items():
        assert abs(drawn[path] - count) < 5 * count**0.5, path


def test_every_row_comes_once_a_round() -> None:
    path = TrainingPath(("en",), ("ar",))
    source = make_source(even([path]), LIMITS)
    seen: list[int] = []
    while len(seen) < 200:
        seen += first_tokens(source.draw(), "en")
    assert sorted(seen) == list(range(200))
    again: list[int] = []
    while len(again) < 200:
        again += first_tokens(source.draw(), "en")
    assert sorted(again) == list(range(200))
    assert again != seen


@settings(deadline=None, max_examples=30)
@given(tokens=st.integers(60, 2000), sentences=st.none() | st.integers(1, 50))
def test_no_batch_passes_its_limits(tokens: int, sentences: int | None) -> None:
    source = make_source(
        even([TrainingPath(("en", "fr"), ("ar",))]),
        BatchLimits(tokens=tokens, sentences=sentences, window=64),
    )
    for _ in range(30):
        batch = source.draw()
        sides = [*batch.sources.values(), *batch.targets.values()]
        size, longest = len(sides[0]), max(int(side.lengths.max()) for side in sides)
        assert size == 1 or size * longest * 3 <= tokens
        assert sentences is None or size <= sentences


def test_sorting_by_length_leaves_few_pads() -> None:
    def padding(window: int) -> float:
        limits = BatchLimits(tokens=10_000, sentences=16, window=window)
        source = make_source(even([TrainingPath(("en",), ("ar",))]), limits, rows=1600)
        words = cells = 0
        for _ in range(100):
            batch = source.draw()
            longest = max(int(s.lengths.max()) for s in (batch.sources["en"], batch.targets["ar"]))
            words += batch.words
            cells += 2 * longest * len(batch.sources["en"])
        return 1 - words / cells

    assert padding(1600) < padding(16) - 0.1


def test_going_on_gives_the_same_batches() -> None:
    mixture = table_3("123a", ("en", "fr", "es"), "ar")
    one, other = make_source(mixture, LIMITS), make_source(mixture, LIMITS)
    for _ in range(77):
        one.draw()
    other.load_state_dict(one.state_dict())
    for _ in range(40):
        a, b = one.draw(), other.draw()
        assert list(a.sources) == list(b.sources)
        assert first_tokens(a, "ar") == first_tokens(b, "ar")


def test_a_part_of_a_batch_is_the_same_rows_everywhere() -> None:
    batch = make_source(even(one_to_many(LANGUAGES)), LIMITS).draw()
    assert len(batch.sources[next(iter(batch.sources))]) > 2
    part = batch.part(range(1, 3))
    for language in LANGUAGES:
        assert first_tokens(part, language) == first_tokens(batch, language)[1:3]
    assert batch.to(torch.device("cpu")).words == batch.words


def test_a_path_without_rows_is_refused() -> None:
    with pytest.raises(InputError, match="en, xx"):
        make_source(even([TrainingPath(("en",), ("xx",))]), LIMITS)
