"""The approximate index: what it finds, by brute force."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from service.inference.session import Vectors
from service.inference.vectors import normalise
from service.search.build import build_index
from service.search.index import NO_KEY, VectorIndex, load_index
from service.search.native import faiss
from service.search.policy import IndexPolicy
from service.search.snapshot import Keys
from service.search.store import Change, Header, Store, create_store
from tests.service.search.samples import sample_documents

DIMENSION = 32
ROWS = 6_000
K = 10


def clustered(count: int, seed: int) -> Vectors:
    """Unit vectors in loose groups, as texts are, float32 [count, DIMENSION]."""
    centres = np.random.default_rng(5).standard_normal((60, DIMENSION))
    random = np.random.default_rng(seed)
    noise = 0.7 * random.standard_normal((count, DIMENSION))
    return normalise((centres[random.integers(0, 60, count)] + noise).astype(np.float32))


VECTORS = clustered(ROWS, seed=0)
QUERIES = clustered(200, seed=1)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    path = tmp_path_factory.mktemp("store") / "store"
    create_store(path, Header("m", "s", DIMENSION, {}, datetime.now(UTC)))
    store = Store(path)
    with store.transaction() as transaction:
        transaction.upsert(sample_documents(ROWS), VECTORS)
        transaction.commit()
    return store


def build(store: Store, recall: float = 0.98) -> VectorIndex:
    with store.snapshot() as snapshot:
        built = build_index(
            snapshot,
            snapshot.begin(),
            policy=IndexPolicy("ivf", recall),
            cancelled=lambda: False,
        )
    assert built is not None
    return built


@pytest.fixture(scope="module")
def built(store: Store) -> VectorIndex:
    return build(store)


def read(store: Store, keys: Keys) -> Vectors:
    with store.snapshot() as snapshot:
        snapshot.begin()
        return snapshot.vectors(keys)


def recall_of(index: VectorIndex, store: Store, allowed: Keys | None = None) -> float:
    keys = index.keys if allowed is None else allowed
    vectors = read(store, keys)
    truth = np.sort(QUERIES @ vectors.T, axis=1)[:, -K]
    scores, _ = index.search(
        QUERIES, K, selected=index.mask_of(keys), stored=lambda k: read(store, k)
    )
    return float(np.mean(scores >= truth[:, None] - 1e-6))


def test_it_finds_what_was_asked_for(built: VectorIndex, store: Store) -> None:
    assert built.kind == "ivf"
    assert built.recall >= 0.98
    assert recall_of(built, store) >= 0.98
    clusters = built._clusters
    assert clusters is not None
    assert clusters.probes < clusters.clusters  # else it proves nothing


def test_less_recall_costs_less(built: VectorIndex, store: Store) -> None:
    rough = build(store, recall=0.7)
    assert rough._clusters is not None
    assert built._clusters is not None
    assert 0.7 <= rough.recall < built.recall
    assert rough._clusters.probes < built._clusters.probes


def test_scores_are_those_of_the_stored_vectors(built: VectorIndex, store: Store) -> None:
    scores, keys = built.search(QUERIES, 20, stored=lambda k: read(store, k))
    assert (np.diff(scores, axis=1) <= 0).all()
    for query, row_scores, row_keys in zip(QUERIES, scores, keys, strict=True):
        np.testing.assert_allclose(read(store, row_keys) @ query, row_scores, atol=1e-5)


@pytest.mark.parametrize("share", [0.5, 0.05, 0.005, 0.0005])
@pytest.mark.parametrize("k", [10, 400, ROWS])
def test_a_filter_never_costs_hits(built: VectorIndex, store: Store, share: float, k: int) -> None:
    keys = built.keys
    allowed = keys[np.random.default_rng(2).random(len(keys)) < share]
    queries = QUERIES[:5]
    _, found = built.search(
        queries, k, selected=built.mask_of(allowed), stored=lambda k: read(store, k)
    )
    assert found.shape == (5, min(k, len(allowed)))
    assert (found != NO_KEY).all()
    assert np.isin(found, allowed).all()
    assert all(len(set(row)) == len(row) for row in found.tolist())


@pytest.mark.parametrize("share", [0.5, 0.05, 0.005])
def test_a_filter_keeps_recall(built: VectorIndex, store: Store, share: float) -> None:
    keys = built.keys
    allowed = keys[np.random.default_rng(3).random(len(keys)) < share]
    assert recall_of(built, store, allowed) >= 0.97


def test_a_filter_on_one_corner_of_the_space_is_answered(built: VectorIndex, store: Store) -> None:
    keys = built.keys
    corner = np.sort(keys[np.argsort(VECTORS @ VECTORS[0])[:40]])  # the farthest from the query
    _, found = built.search(
        VECTORS[:1], 40, selected=built.mask_of(corner), stored=lambda k: read(store, k)
    )
    assert sorted(found[0].tolist()) == corner.tolist()


def test_changes_are_seen_at_once_and_absorbed_later(store: Store, tmp_path: Path) -> None:
    index = build(store)
    first = index.keys[:3]
    last = int(index.keys[-1])
    new = clustered(50, seed=7)
    added = np.arange(last + 1, last + 51, dtype=np.int64)
    index.follow(Change(index.generation, 1, first, added, new))
    assert len(index) == ROWS + 47

    def stored(keys: Keys) -> Vectors:
        return np.concatenate([read(store, keys[keys <= last]), new[keys[keys > last] - last - 1]])

    def check(index: VectorIndex) -> None:
        scores, keys = index.search(new, 1, stored=stored)
        assert keys[:, 0].tolist() == added.tolist()
        np.testing.assert_allclose(scores, 1, atol=1e-5)
        _, keys = index.search(VECTORS[:3], 5, stored=stored)
        assert not np.isin(keys, first).any()

    check(index)
    index.absorb(30)
    check(index)
    index.save(tmp_path / "index")
    check(load_index(tmp_path / "index", DIMENSION))
    index.absorb(1_000)
    check(index)
    assert index._head == ROWS + 50
    index.save(tmp_path / "index")
    check(load_index(tmp_path / "index", DIMENSION))


def test_what_is_removed_before_it_is_absorbed_costs_no_other(store: Store) -> None:
    index = build(store)
    last = int(index.keys[-1])
    added = np.arange(last + 1, last + 51, dtype=np.int64)
    index.add(added, clustered(50, seed=7))
    index.remove(added[:5])
    index.absorb(30)
    _, keys = index.search(QUERIES[:1], len(index))
    assert np.isin(added[5:], keys[0]).all()
    assert len(np.unique(keys[0])) == len(index) == ROWS + 45


def test_it_says_when_it_is_to_be_built_again(store: Store) -> None:
    index = build(store)
    assert index.due is None
    index.remove(index.keys[: ROWS // 8 - 1])
    assert index.due is None
    index.remove(index.keys[:1])
    assert index.due == "build"


def test_it_is_built_again_beyond_four_times_what_it_was_built_for(store: Store) -> None:
    index = build(store)
    keys = np.arange(3 * ROWS + 1, dtype=np.int64) + int(index.keys[-1]) + 1
    due = []
    for part in (keys[:-1], keys[-1:]):
        index.add(part, clustered(len(part), seed=8))
        due.append(index.due)
    assert due == ["absorb", "build"]


def test_a_cancelled_build_leaves_nothing(store: Store) -> None:
    with store.snapshot() as snapshot:
        assert (
            build_index(
                snapshot, snapshot.begin(), policy=IndexPolicy("ivf"), cancelled=lambda: True
            )
            is None
        )


def test_a_gpu_trains_them_where_there_is_one(
    store: Store, built: VectorIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is none here: it is seen to be asked, and what it gives to be used."""
    moved = []

    def to_all_gpus(index: object) -> object:
        moved.append(index)
        return index

    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 1, raising=False)
    monkeypatch.setattr(faiss, "index_cpu_to_all_gpus", to_all_gpus, raising=False)
    again = build(store)
    assert len(moved) == 1
    for left, right in zip(again.search(QUERIES, K), built.search(QUERIES, K), strict=True):
        np.testing.assert_array_equal(left, right)
