"""Remembered conditions against the store, over any writes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.search import selections
from service.search.corpora import Corpora, Corpus
from service.search.snapshot import Snapshot
from tests.service.search.samples import (
    TOPICS,
    sample_documents,
    sample_vectors,
)

FILTERS: tuple[dict[str, object], ...] = (
    {"topic": "law"},
    {"n": {"gte": 20}},
    {"not": {"topic": "art"}},
)


def found(corpus: Corpus, filter: dict[str, object]) -> set[str]:
    (hits,) = corpus.search(sample_vectors(1), k=1000, filter=filter)
    return {hit.id for hit in hits}


def expected(numbers: set[int], filter: dict[str, object]) -> set[str]:
    def passes(n: int) -> bool:
        topic = TOPICS[n % len(TOPICS)]
        return (topic == "law", n >= 20, topic != "art")[FILTERS.index(filter)]

    return {f"d{n}" for n in numbers if passes(n)}


WRITES = st.lists(
    st.tuples(st.sampled_from(["upsert", "delete"]), st.integers(0, 70), st.integers(1, 30)),
    max_size=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(writes=WRITES)
def test_they_follow_all_writes(corpus: Corpus, writes: list[tuple[str, int, int]]) -> None:
    corpus.delete([f"d{n}" for n in range(200)])
    corpus.upsert(sample_documents(60), sample_vectors(60))
    numbers = set(range(60))
    for number, (kind, start, count) in enumerate(writes):
        filter = FILTERS[number % len(FILTERS)]
        touched = set(range(start, start + count))
        if kind == "upsert":
            corpus.upsert(sample_documents(count, start=start), sample_vectors(count, seed=number))
            numbers |= touched
        else:
            corpus.delete([f"d{n}" for n in touched])
            numbers -= touched
        assert found(corpus, filter) == expected(numbers, filter)
    for filter in FILTERS:
        assert found(corpus, filter) == expected(numbers, filter)


def test_the_store_is_asked_for_what_is_new_alone(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    read = Snapshot.keys

    def counting(self: Snapshot, condition: object = None) -> object:
        keys = read(self, condition)  # type: ignore[arg-type]
        asked.append(len(keys))
        return keys

    monkeypatch.setattr(Snapshot, "keys", counting)
    for _ in range(3):
        assert len(found(corpus, {"topic": "law"})) == 20
    assert asked == [20]
    corpus.upsert(sample_documents(6, start=60), sample_vectors(6))
    corpus.delete(["d0"])
    for _ in range(3):
        assert len(found(corpus, {"topic": "law"})) == 21
    assert asked == [20, 2]


def test_they_take_a_bounded_room(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selections, "BUDGET_BYTES", 1_000)
    for n in range(60):
        assert found(corpus, {"n": n}) == {f"d{n}"}
        assert corpus._selections._bytes() <= 1_000


def test_they_hold_no_longer_than_the_history(corpora: Corpora, corpus: Corpus) -> None:
    assert len(found(corpus, {"topic": "law"})) == 20
    other = Corpus(corpora.directory / "demo")
    other.upsert(sample_documents(30, start=60), sample_vectors(30))
    other.close()
    assert len(found(corpus, {"topic": "law"})) == 30
