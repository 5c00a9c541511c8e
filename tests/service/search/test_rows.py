"""Rows by ascending keys against a plain dict."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.search.rows import KeyedRows


def _keys(*keys: int) -> np.ndarray:
    return np.array(keys, dtype=np.int64)


@given(st.lists(st.integers(1, 5), max_size=30), st.data())
def test_they_find_what_a_dict_finds(steps: list[int], data: st.DataObject) -> None:
    keys = np.cumsum(np.array(steps, dtype=np.int64))
    rows, places = KeyedRows(), {int(key): row for row, key in enumerate(keys)}
    for key in keys:
        rows.append(_keys(int(key)))
    marked = data.draw(st.sets(st.sampled_from(sorted(places)))) if places else set()
    rows.mark(rows.find(_keys(*sorted(marked))))
    asked = _keys(*range(0, 160))
    wanted = [row for key, row in places.items() if key not in marked]
    assert rows.find(asked).tolist() == wanted
    assert rows.kept_keys().tolist() == [key for key in places if key not in marked]
    assert rows.dead == len(marked)
    gone = np.array([key in marked for key in places], dtype=np.bool_)
    rows.drop(gone)
    assert rows.keys.tolist() == [key for key in places if key not in marked]
    assert not rows.dead


def test_what_may_be_found_is_a_mask_only_where_it_must_be() -> None:
    rows = KeyedRows(_keys(2, 3, 5, 7, 11, 13))
    assert (rows.findable(None, 1, 5, 0).mask, rows.findable(None, 1, 5, 0).count) == (None, 4)
    rows.mark(rows.find(_keys(5)))
    some = rows.findable(None, 1, 5, 1)
    assert some.mask is not None
    assert (some.mask.tolist(), some.count) == ([True, False, True, True], 3)
    chosen = np.array([False, True, True, True, False, False])
    some = rows.findable(chosen, 1, 5, 1)
    assert some.mask is not None
    assert (some.mask.tolist(), some.count) == ([True, False, True, False], 2)
    assert rows.findable(chosen, 3, 4, 0).mask is None
    assert rows.findable(chosen, 4, 6, 0).count == 0


def test_keys_must_grow() -> None:
    rows = KeyedRows(_keys(4))
    with pytest.raises(ValueError, match="keys must grow"):
        rows.append(_keys(4))
    with pytest.raises(ValueError, match="keys must grow"):
        rows.append(_keys(6, 5))
