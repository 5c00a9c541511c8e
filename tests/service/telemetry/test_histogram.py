from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.exposition import generate_latest

from service.telemetry.histogram import BulkHistogram

BUCKETS = (1.0, 2.0, 4.0, 8.0)


@given(st.lists(st.lists(st.integers(0, 12), max_size=8), max_size=8))
def test_it_counts_like_the_client_librarys_own(batches: list[list[int]]) -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    bulk = BulkHistogram("size", "Help", buckets=BUCKETS, registry=ours)
    single = Histogram("size", "Help", buckets=BUCKETS, registry=theirs)
    for batch in batches:
        bulk.observe_many(batch)
        for value in batch:
            single.observe(value)
    expected = [
        line for line in generate_latest(theirs).decode().splitlines() if "_created" not in line
    ]
    assert generate_latest(ours).decode().splitlines() == expected


def test_a_second_of_the_name_is_refused() -> None:
    registry = CollectorRegistry(auto_describe=True)
    BulkHistogram("size", "Help", buckets=BUCKETS, registry=registry)
    with pytest.raises(ValueError, match="size"):
        BulkHistogram("size", "Help", buckets=BUCKETS, registry=registry)
