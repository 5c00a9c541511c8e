"""Filters against an evaluator in Python, on a real SQLite database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import InputError
from service.search.document import Metadata, Scalar
from service.search.filters import (
    MAX_COMPARISONS,
    MAX_DEPTH,
    MAX_VALUES,
    Condition,
    Filter,
    compile_conditions,
)
from service.search.snapshot import as_json

FIELDS = ("topic", "a.b", "x[0]", "год", "$")


def matches(filter: Filter, metadata: Metadata) -> bool:
    """Whether `filter` matches, by the words of the module's docstring."""
    return all(_matches_one(name, operand, metadata) for name, operand in filter.items())


def _matches_one(name: str, operand: Any, metadata: Metadata) -> bool:  # noqa: ANN401
    if name == "and":
        return all(matches(part, metadata) for part in operand)
    if name == "or":
        return any(matches(part, metadata) for part in operand)
    if name == "not":
        return not matches(operand, metadata)
    value = metadata.get(name)
    present = [v for v in (value if isinstance(value, list) else [value]) if v is not None]
    if not isinstance(operand, Mapping):
        operand = {"in": [operand]}
    if "in" in operand:
        wanted = operand["in"]
        if None in wanted and not present:
            return True
        return any(_same(v, w) for v in present for w in wanted if w is not None)
    return any(_in_range(v, operand) for v in present)


def _kind(value: Scalar) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else type(value).__name__


def _same(left: Scalar, right: Scalar) -> bool:
    return _kind(left) == _kind(right) and left == right


def _in_range(value: Any, bounds: Mapping[str, Any]) -> bool:  # noqa: ANN401
    tests = {
        "gt": lambda a, b: a > b,
        "gte": lambda a, b: a >= b,
        "lt": lambda a, b: a < b,
        "lte": lambda a, b: a <= b,
    }
    return all(
        _kind(value) == _kind(bound) != "boolean" and tests[key](value, bound)
        for key, bound in bounds.items()
    )


# Few values, so that equal ones meet. Floats are exact in binary: older SQLite rounds the last
# digit of a long decimal differently.
TEXTS = st.sampled_from(
    ["", "law", "Law", "1", "true", "é", "e\u0301", "😀", "\uffff", "it's", "%"]
)
NUMBERS = st.sampled_from([0, 1, -1, 2, 1.0, 0.5, -0.25, 2**63 - 1, -(2**63) + 1, 1e18])
SCALARS = st.one_of(st.none(), st.booleans(), TEXTS, NUMBERS)
METADATA = st.dictionaries(
    st.sampled_from(FIELDS), st.one_of(SCALARS, st.lists(SCALARS, max_size=3)), max_size=4
)
RANGES = st.one_of(
    *(
        st.dictionaries(st.sampled_from(["gt", "gte", "lt", "lte"]), ends, min_size=1, max_size=2)
        for ends in (TEXTS, NUMBERS)
    )
)
OPERANDS = st.one_of(SCALARS, RANGES, st.fixed_dictionaries({"in": st.lists(SCALARS, max_size=3)}))
FILTERS = st.recursive(
    st.dictionaries(st.sampled_from(FIELDS), OPERANDS, min_size=1, max_size=2),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"and": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"or": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"not": inner}),
    ),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def database() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE documents (metadata TEXT, language TEXT)")
        yield connection


def selects(database: sqlite3.Connection, condition: Condition, metadata: Metadata) -> bool:
    database.execute("DELETE FROM documents")
    database.execute("INSERT INTO documents (metadata) VALUES (?)", (as_json(metadata),))
    rows = database.execute(
        f"SELECT 1 FROM documents WHERE {condition.sql}", condition.parameters
    ).fetchall()
    return bool(rows)


def compiled(filter: Filter) -> Condition:
    condition = compile_conditions(filter)
    assert condition is not None
    return condition


@settings(deadline=None)
@given(metadata=METADATA, filter=FILTERS)
def test_sql_agrees_with_python(
    database: sqlite3.Connection, metadata: Metadata, filter: Filter
) -> None:
    assert selects(database, compiled(filter), metadata) == matches(filter, metadata)


@pytest.mark.parametrize(
    ("filter", "metadata", "expected"),
    [
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"a": "1"}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": True}, {"a": 1}, False),
        ({"a": None}, {}, True),
        ({"a": None}, {"a": []}, True),
        ({"a": None}, {"a": 0}, False),
        ({"a": "x"}, {"a": ["y", "x"]}, True),
        ({"a": {"gte": 2, "lt": 3}}, {"a": [1, 4]}, False),
        ({"a": {"gte": "2020-01-01"}}, {"a": "2026-11-21"}, True),
        ({"a": {"in": []}}, {"a": 1}, False),
        ({"not": {"a": 1}}, {}, True),
        ({"a": 1, "b": 2}, {"a": 1}, False),
        ({"a.b": 1}, {"a.b": 1}, True),
        ({"a' OR 1=1 --": 1}, {"b": 1}, False),
        ({"a": "' OR 1=1 --"}, {"a": "b"}, False),
    ],
)
def test_examples(
    database: sqlite3.Connection, filter: Filter, metadata: Metadata, expected: bool
) -> None:
    assert selects(database, compiled(filter), metadata) is expected


@pytest.mark.parametrize(
    ("filter", "at_fault"),
    [
        ({}, "filter"),
        ([], "filter"),
        ("topic", "filter"),
        ({"and": []}, "filter.and"),
        ({"or": {"a": 1}}, "filter.or"),
        ({"or": [{"a": 1}, {}]}, "filter.or[1]"),
        ({"not": [1]}, "filter.not"),
        ({"a": [1]}, "filter.a"),
        ({"a": {}}, "filter.a"),
        ({"a": {"like": "%"}}, "filter.a"),
        ({"a": {"in": 1}}, "filter.a.in"),
        ({"a": {"in": [[1]]}}, "filter.a.in"),
        ({"a": {"in": [1], "gt": 0}}, "filter.a"),
        ({"a": {"gt": 1, "lt": "2"}}, "filter.a"),
        ({"a": {"gt": True}}, "filter.a"),
        ({"a": {"gt": None}}, "filter.a"),
        ({"a": 2**64}, "filter.a"),
        ({"a": {"gt": 1e19}}, "filter.a.gt"),
        ({"a": "\ud800"}, "filter.a"),
        ({'a"b': 1}, 'filter.a"b'),
        ({"and": [{"or": [{"a": {"gte": {}}}]}]}, "filter.and[0].or[0].a.gte"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(filter: object, at_fault: str) -> None:
    with pytest.raises(InputError) as caught:
        compile_conditions(filter)  # type: ignore[arg-type]
    assert caught.value.field == at_fault


def nested(depth: int) -> Filter:
    filter: Filter = {"a": 1}
    for level in range(depth - 1):
        filter = {"not": filter} if level % 2 else {"and": [{"a": 1}, filter]}
    return filter


def test_largest_filter_that_is_taken_runs(database: sqlite3.Connection) -> None:
    wide = {"or": [{"a": {"gt": number}} for number in range(MAX_COMPARISONS)]}
    assert selects(database, compiled(wide), {"a": 1})
    long = {"a": {"in": list(range(MAX_VALUES))}}
    assert selects(database, compiled(long), {"a": MAX_VALUES - 1})
    deep = nested(MAX_DEPTH)
    assert selects(database, compiled(deep), {"a": 1}) == matches(deep, {"a": 1})


@pytest.mark.parametrize(
    "filter",
    [
        nested(MAX_DEPTH + 1),
        {"or": [{"a": 1}] * (MAX_COMPARISONS + 1)},
        {"a": {"in": [1] * (MAX_VALUES + 1)}},
    ],
    ids=["deep", "wide", "long"],
)
def test_larger_filters_are_refused(filter: Filter) -> None:
    with pytest.raises(InputError, match="at most"):
        compile_conditions(filter)


def test_languages_are_a_condition_of_their_own() -> None:
    condition = compile_conditions(None, ["de", "fr"])
    assert condition is not None
    assert condition.parameters == ("de", "fr")
    assert compile_conditions(None, None) is None


@pytest.mark.parametrize("languages", ["de", [], ["DE"], ["de", "x y"]])
def test_languages_that_are_none_are_refused(languages: object) -> None:
    with pytest.raises(InputError, match="language"):
        compile_conditions(None, languages)  # type: ignore[arg-type]
