"""The index against brute force in numpy."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.inference.session import Vectors
from service.search.checks import unit_vectors
from service.search.index import NEVER, NO_KEY, VectorIndex, load_index
from service.search.snapshot import Keys
from service.search.store import Change, Header, Store, create_store
from tests.service.search.samples import DIMENSION, sample_documents, sample_vectors


def unit(count: int, seed: int = 0) -> Vectors:
    return unit_vectors(sample_vectors(count, seed=seed), dimension=DIMENSION)


def as_keys(values: range | list[int]) -> Keys:
    return np.array(list(values), dtype=np.int64)


def brute_force(queries: Vectors, vectors: dict[int, Vectors], k: int) -> list[list[float]]:
    """Scores of the k best, by float64 and a full sort."""
    if not vectors:
        return [[] for _ in queries]
    matrix = np.stack(list(vectors.values())).astype(np.float64)
    scores = np.sort(queries.astype(np.float64) @ matrix.T, axis=1)[:, ::-1][:, :k]
    return [row.tolist() for row in scores]


def check_against_brute_force(
    index: VectorIndex, vectors: dict[int, Vectors], queries: Vectors, k: int, allowed: Keys | None
) -> None:
    scores, keys = index.search(
        queries, k, selected=None if allowed is None else index.mask_of(allowed)
    )
    candidates = (
        vectors if allowed is None else {key: vectors[key] for key in allowed if key in vectors}
    )
    for query, row_scores, row_keys, expected in zip(
        queries, scores, keys, brute_force(queries, candidates, k), strict=True
    ):
        found = row_keys[row_keys != NO_KEY].tolist()
        assert len(found) == len(set(found)) == len(expected)
        assert set(found) <= set(candidates)
        np.testing.assert_allclose(row_scores[: len(found)], expected, atol=1e-6)
        for key, score in zip(found, row_scores.tolist(), strict=False):
            assert score == pytest.approx(float(vectors[key] @ query), abs=1e-6)


@settings(deadline=None)
@given(data=st.data())
def test_any_sequence_of_changes_equals_brute_force(data: st.DataObject) -> None:
    index = VectorIndex(DIMENSION)
    vectors: dict[int, Vectors] = {}
    next_key = 1
    for step in range(data.draw(st.integers(1, 6), label="changes")):
        added = data.draw(st.integers(0, 40), label="added")
        removed = sorted(data.draw(st.sets(st.sampled_from(sorted(vectors)))) if vectors else set())
        new = dict(zip(range(next_key, next_key + added), unit(added, seed=step), strict=True))
        matrix = np.array(list(new.values()), dtype=np.float32).reshape(-1, DIMENSION)
        index.follow(Change(step - 1, step, as_keys(removed), as_keys(list(new)), matrix))
        vectors = {key: v for key, v in vectors.items() if key not in removed} | new
        next_key += added + data.draw(st.integers(0, 3), label="gap")
    assert index.keys.tolist() == sorted(vectors)
    assert len(index) == len(vectors)
    allowed = data.draw(
        st.none() | st.sets(st.integers(0, next_key + 1)).map(lambda keys: as_keys(sorted(keys))),
        label="allowed",
    )
    queries = unit(data.draw(st.sampled_from([1, 3, 30]), label="queries"), seed=99)
    k = data.draw(st.integers(1, 100), label="k")
    check_against_brute_force(index, vectors, queries, k, allowed)


def test_removed_rows_are_taken_out_in_the_end() -> None:
    index = VectorIndex(DIMENSION)
    index.add(as_keys(range(80)), unit(80))
    index.remove(as_keys(range(9)))
    assert len(index._rows) == 80
    index.remove(as_keys(range(9, 20)))
    assert len(index._rows) == len(index) == 60
    assert index.keys.tolist() == list(range(20, 80))


def test_removing_what_is_not_there_changes_nothing() -> None:
    index = VectorIndex(DIMENSION)
    index.remove(as_keys([1]))
    index.add(as_keys([2, 4]), unit(2))
    index.remove(as_keys([1, 3, 5]))
    index.remove(as_keys([2]))
    index.remove(as_keys([2]))
    assert index.keys.tolist() == [4]


def test_keys_must_grow() -> None:
    index = VectorIndex(DIMENSION)
    index.add(as_keys([5]), unit(1))
    with pytest.raises(ValueError, match="bug"):
        index.add(as_keys([5]), unit(1))
    with pytest.raises(ValueError, match="bug"):
        index.add(as_keys([7, 6]), unit(2))


def test_empty_index_finds_nothing() -> None:
    scores, keys = VectorIndex(DIMENSION).search(unit(2), 5)
    assert scores.shape == keys.shape == (2, 0)


def test_no_queries_are_fine() -> None:
    index = VectorIndex(DIMENSION)
    index.add(as_keys([5]), unit(1))
    scores, keys = index.search(unit(0), 5)
    assert scores.shape == keys.shape == (0, 0)


def test_saved_index_is_the_same(tmp_path: Path) -> None:
    index = VectorIndex(DIMENSION)
    index.follow(Change(2, 3, as_keys([]), as_keys(range(40)), unit(40)))
    index.save(tmp_path / "index")
    assert index.unsaved == 0
    loaded = load_index(tmp_path / "index", DIMENSION)
    assert (loaded.generation, loaded.unsaved) == (3, 0)
    for left, right in zip(index.search(unit(3), 5), loaded.search(unit(3), 5), strict=True):
        np.testing.assert_array_equal(left, right)
    loaded.add(as_keys([40]), unit(1, seed=1))
    loaded.remove(as_keys([0]))
    assert loaded.keys.tolist() == list(range(1, 41))


def test_removed_rows_stay_removed_in_the_file(tmp_path: Path) -> None:
    index = VectorIndex(DIMENSION)
    index.follow(Change(0, 1, as_keys([]), as_keys(range(40)), unit(40)))
    index.follow(Change(1, 2, as_keys([7]), as_keys([]), unit(0)))
    index.save(tmp_path / "index")
    loaded = load_index(tmp_path / "index", DIMENSION)
    assert (loaded.generation, len(loaded), loaded._rows.dead) == (2, 39, 1)
    assert 7 not in loaded.search(unit(3), 40)[1]


@pytest.mark.parametrize("damage", ["missing", "cut", "other dimension"])
def test_index_that_cannot_be_used_begins_empty(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "index"
    index = VectorIndex(DIMENSION)
    index.follow(Change(0, 1, as_keys([]), as_keys(range(4)), unit(4)))
    index.save(path)
    if damage == "missing":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-1])
    loaded = load_index(path, DIMENSION + (damage == "other dimension"))
    assert (len(loaded), loaded.generation) == (0, NEVER)


def test_keys_from_before_the_last_one_make_it_begin_anew(tmp_path: Path) -> None:
    create_store(tmp_path / "store", Header("m", "s", DIMENSION, {}, datetime.now(UTC)))
    store = Store(tmp_path / "store")
    with store.transaction() as transaction:
        change = transaction.upsert(sample_documents(4), unit(4))
        transaction.commit()
    index = VectorIndex(DIMENSION)
    index.add(change.added[2:], change.vectors[2:])
    history, layout = index.history, index.layout
    with store.snapshot() as snapshot:
        index.catch_up(snapshot, snapshot.begin())
    store.close()
    assert index.keys.tolist() == change.added.tolist()
    # What was remembered of its keys and rows holds no longer.
    assert index.history is not history
    assert index.layout is not layout
    check_against_brute_force(
        index, dict(zip(index.keys.tolist(), unit(4), strict=True)), unit(2, seed=9), 4, None
    )
