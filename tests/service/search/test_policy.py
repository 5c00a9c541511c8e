from __future__ import annotations

import pytest

from service.errors import InputError, StorageError
from service.search.policy import (
    FEWEST_CLUSTERED,
    FLAT_ROWS,
    IndexPolicy,
    policy_from_json,
    policy_to_json,
)


def test_auto_clusters_by_size() -> None:
    assert not IndexPolicy().wants_clusters(FLAT_ROWS)
    assert IndexPolicy().wants_clusters(FLAT_ROWS + 1)


def test_a_named_kind_holds_at_every_size() -> None:
    assert not IndexPolicy("flat").wants_clusters(10**9)
    assert IndexPolicy("ivf").wants_clusters(FEWEST_CLUSTERED + 1)
    assert not IndexPolicy("ivf").wants_clusters(FEWEST_CLUSTERED)


def test_it_comes_back_from_its_file() -> None:
    policy = IndexPolicy("ivf", 0.9)
    assert policy_from_json(policy_to_json(policy)) == policy


@pytest.mark.parametrize(("field", "values"), [("kind", ["hnsw", ""]), ("recall", [0.4, 1.0])])
def test_what_cannot_be_is_refused(field: str, values: list[object]) -> None:
    for value in values:
        with pytest.raises(InputError) as caught:
            IndexPolicy(**{field: value})  # type: ignore[arg-type]
        assert caught.value.field == f"index.{field}"


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"kind": "ivf", "recall": 7}'])
def test_a_damaged_file_is_said_to_be(content: bytes) -> None:
    with pytest.raises(StorageError, match="damaged"):
        policy_from_json(content)
