"""Each parser of files and bodies, on bytes by chance and on whole ones that were damaged.

`python -m benchmarks.fuzz.guided` searches the same targets for much longer, led by coverage.
"""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.fuzz.targets import TARGETS, holds, seeds

WHOLE = list(seeds(Path(__file__).parents[2]))

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "inputs",
                    "id",
                    "text",
                    "and",
                    "or",
                    "not",
                    "in",
                    "gt",
                    "lt",
                    "labels",
                    "label",
                    "metadata",
                    "vector",
                    "corpus",
                    "files",
                    "name",
                    "schema_version",
                    "documents",
                ]
            )
            | st.text(max_size=8),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    log = logging.getLogger("service")
    before = log.level
    log.setLevel(logging.CRITICAL)
    yield
    log.setLevel(before)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=25, deadline=None)
@given(content=st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_bytes_by_chance(name: str, content: bytes) -> None:
    holds(TARGETS[name], content)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=25, deadline=None)
@given(value=JSON)
def test_json_by_chance(name: str, value: object) -> None:
    holds(TARGETS[name], json.dumps(value).encode())


@pytest.mark.parametrize("name", TARGETS)
def test_whole_ones_damaged(name: str) -> None:
    chance = random.Random(name)
    for whole in WHOLE:
        holds(TARGETS[name], whole)
        for _ in range(2):
            content = bytearray(whole)
            for _ in range(chance.randint(1, 8)):
                if content:
                    content[chance.randrange(len(content))] = chance.randrange(256)
            holds(TARGETS[name], bytes(content[: chance.randrange(len(content) + 1) or None]))
