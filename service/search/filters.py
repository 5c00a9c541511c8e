"""Metadata filters: what they may say, and their way to SQL with bound parameters.

    {"topic": "law"}                          the field is this value
    {"topic": {"in": ["law", "health"]}}      the field is one of these
    {"year": {"gte": 1990, "lt": 2000}}       numbers or strings in a range: gt, gte, lt, lte
    {"topic": "law", "year": 1999}            both
    {"and": [...]}  {"or": [...]}  {"not": {...}}

A field that holds a list matches where one of its elements does. `null` matches where the field
has no value: missing, null or an empty list. Types are never converted: 1 is not "1" nor true.
Strings are compared by code point.

An engine other than SQLite brings a `Dialect` of its own; the walk through a filter is one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

from service.errors import InputError
from service.search.document import Scalar, check_field, check_language, check_scalar

Filter: TypeAlias = Mapping[str, object]
"""A parsed JSON object, as above."""

MAX_DEPTH = 16
MAX_COMPARISONS = 256
MAX_VALUES = 10_000
"""Below SQLite's own limits on an expression's depth (1,000) and parameters (32,766)."""

RANGE_OPERATORS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}

# Of SQLite's json_each: the types a Python value may equal.
_TEXT = "value.type = 'text'"
_NUMBER = "value.type IN ('integer', 'real')"


@dataclass(frozen=True, slots=True)
class Condition:
    """An SQL expression over a row of `documents`, and the parameters it binds, in order."""

    sql: str
    parameters: tuple[str | int | float, ...] = ()


@dataclass(frozen=True, slots=True)
class Operands:
    """The values of one comparison, by type, as types are never converted."""

    texts: tuple[str, ...]
    numbers: tuple[int | float, ...]
    booleans: tuple[bool, ...]
    null: bool

    @classmethod
    def of(cls, values: Iterable[Scalar]) -> Operands:
        """Sort `values` by type."""
        values = list(values)
        return cls(
            tuple(value for value in values if isinstance(value, str)),
            # To Python a bool is an int; to JSON it is not.
            tuple(v for v in values if isinstance(v, int | float) and not isinstance(v, bool)),
            tuple(sorted({value for value in values if isinstance(value, bool)})),
            None in values,
        )


T = TypeVar("T")


class Dialect(Protocol[T]):
    """How an engine says what a filter may say."""

    def one_of(self, name: str, operands: Operands) -> T:
        """Field `name`, or an element of it, is one of the operands; none matches nothing."""
        ...

    def in_range(self, name: str, bounds: Mapping[str, str | int | float]) -> T:
        """Field `name` lies between bounds, operator (`gt`, `gte`, `lt`, `lte`) -> end."""
        ...

    def languages(self, languages: Collection[str]) -> T:
        """The document's language is one of these."""
        ...

    def negation(self, condition: T) -> T:
        """`condition` does not hold."""
        ...

    def join(self, conditions: list[T], word: Literal["AND", "OR"]) -> T:
        """All of the conditions hold, or any of them."""
        ...


def compile_filter(
    filter: Filter | None, languages: Collection[str] | None, dialect: Dialect[T]
) -> T | None:
    """Return the condition that `filter` and `languages` make together; None where all match.

    Raises:
        InputError: What is not understood, with its place in the filter as the field.
    """
    conditions = []
    if languages is not None:
        if isinstance(languages, str) or not languages:
            raise InputError(
                "A list of at least one language is due.", field="languages", given=languages
            )
        for language in languages:
            check_language(language)
        conditions.append(dialect.languages(tuple(dict.fromkeys(languages))))
    if filter is not None:
        conditions.append(_Compiler(dialect).compile(filter, "filter", MAX_DEPTH))
    return dialect.join(conditions, "AND") if conditions else None


def compile_conditions(
    filter: Filter | None, languages: Collection[str] | None = None
) -> Condition | None:
    """Return the SQL of `compile_filter`."""
    return compile_filter(filter, languages, _Sql())


def fields_of(filter: Filter) -> frozenset[str]:
    """Return the fields that a filter, which compiles, wants to have a value.

    Where it compares with null alone, a field may well be missing.
    """
    found: set[str] = set()
    for name, operand in filter.items():
        if name == "not" and isinstance(operand, Mapping):
            found |= fields_of(operand)
        elif name in ("and", "or") and isinstance(operand, list):
            found.update(*(fields_of(part) for part in operand))
        elif operand is not None:
            found.add(name)
    return frozenset(found)


class _Compiler(Generic[T]):
    """Walks a filter once, counting what SQLite allows only so many of."""

    def __init__(self, dialect: Dialect[T]) -> None:
        self._dialect = dialect
        self._comparisons_left = MAX_COMPARISONS
        self._values_left = MAX_VALUES

    def compile(self, filter: object, field: str, depth: int) -> T:
        if not isinstance(filter, Mapping) or not filter:
            raise InputError(
                "A filter is a JSON object with at least one field.",
                field=field,
                given=filter,
                remedy='Write {"topic": "law"}; leave the filter out to match all.',
            )
        if depth == 0:
            raise InputError(f"A filter nests at most {MAX_DEPTH} deep.", field=field)
        combined = {"and": self._all_of, "or": self._any_of, "not": self._none_of}
        conditions = []
        for name, operand in filter.items():
            place = f"{field}.{name}"
            if name in combined:
                conditions.append(combined[name](operand, place, depth - 1))
            else:
                conditions.append(self._compare(name, operand, place))
        return self._dialect.join(conditions, "AND")

    def _all_of(self, operand: object, field: str, depth: int) -> T:
        return self._dialect.join(self._each(operand, field, depth), "AND")

    def _any_of(self, operand: object, field: str, depth: int) -> T:
        return self._dialect.join(self._each(operand, field, depth), "OR")

    def _none_of(self, operand: object, field: str, depth: int) -> T:
        return self._dialect.negation(self.compile(operand, field, depth))

    def _each(self, operand: object, field: str, depth: int) -> list[T]:
        if not isinstance(operand, list) or not operand:
            raise InputError("A list of filters is due here.", field=field, given=operand)
        return [
            self.compile(part, f"{field}[{number}]", depth) for number, part in enumerate(operand)
        ]

    def _compare(self, name: str, operand: object, field: str) -> T:
        self._comparisons_left -= 1
        if self._comparisons_left < 0:
            raise InputError(
                f"A filter compares at most {MAX_COMPARISONS} times.",
                field=field,
                remedy='Put values of one field together: {"in": [...]}.',
            )
        try:
            check_field(name)
        except InputError as error:
            raise InputError(error.message, field=field, given=name) from None
        if isinstance(operand, Mapping):
            return self._operators(name, operand, field)
        if isinstance(operand, list):
            raise InputError(
                "A list does not say how to compare.",
                field=field,
                given=operand,
                remedy=f'Write {{"{name}": {{"in": [...]}}}} to match any of its elements.',
            )
        return self._one_of(name, [operand], field)

    def _operators(self, name: str, operators: Mapping[str, object], field: str) -> T:
        if set(operators) == {"in"}:
            values = operators["in"]
            if not isinstance(values, list):
                raise InputError("A list of values is due here.", field=f"{field}.in", given=values)
            return self._one_of(name, values, f"{field}.in")
        if operators and set(operators) <= set(RANGE_OPERATORS):
            return self._in_range(name, operators, field)
        raise InputError(
            "These operators are not understood together.",
            field=field,
            given=sorted(map(str, operators)),
            remedy="Use in alone, or any of gt, gte, lt and lte.",
        )

    def _one_of(self, name: str, operands: list[object], field: str) -> T:
        values = [self._scalar(operand, field) for operand in operands]
        return self._dialect.one_of(name, Operands.of(values))

    def _in_range(self, name: str, operators: Mapping[str, object], field: str) -> T:
        values = {key: self._scalar(value, f"{field}.{key}") for key, value in operators.items()}
        operands = Operands.of(values.values())
        if len(values) not in (len(operands.texts), len(operands.numbers)):
            raise InputError(
                "The ends of a range are numbers, or strings, not a mix.",
                field=field,
                given=dict(operators),
            )
        ends = operands.texts or operands.numbers
        return self._dialect.in_range(name, dict(zip(values, ends, strict=True)))

    def _scalar(self, value: object, field: str) -> Scalar:
        self._values_left -= 1
        if self._values_left < 0:
            raise InputError(f"A filter holds at most {MAX_VALUES} values.", field=field)
        return check_scalar(value, field)


class _Sql:
    """SQLite's: a condition over a row of `documents`."""

    def one_of(self, name: str, operands: Operands) -> Condition:
        texts, numbers = operands.texts, operands.numbers
        booleans = [str(value).lower() for value in operands.booleans]
        options = []
        if texts:
            options.append(_any_value(name, f"{_TEXT} AND value.value IN ({_marks(texts)})", texts))
        if numbers:
            options.append(
                _any_value(name, f"{_NUMBER} AND value.value IN ({_marks(numbers)})", numbers)
            )
        if booleans:
            options.append(_any_value(name, f"value.type IN ({_marks(booleans)})", booleans))
        if operands.null:
            options.append(self.negation(_any_value(name, "value.type <> 'null'", ())))
        return self.join(options, "OR") if options else Condition("0")

    def in_range(self, name: str, bounds: Mapping[str, str | int | float]) -> Condition:
        textual = any(isinstance(end, str) for end in bounds.values())
        tests = [_TEXT if textual else _NUMBER]
        tests += [f"value.value {RANGE_OPERATORS[key]} ?" for key in bounds]
        return _any_value(name, " AND ".join(tests), list(bounds.values()))

    def languages(self, languages: Collection[str]) -> Condition:
        return Condition(f"documents.language IN ({_marks(languages)})", tuple(languages))

    def negation(self, condition: Condition) -> Condition:
        return Condition(f"NOT {condition.sql}", condition.parameters)

    def join(self, conditions: list[Condition], word: Literal["AND", "OR"]) -> Condition:
        return Condition(
            "(" + f" {word} ".join(condition.sql for condition in conditions) + ")",
            tuple(parameter for condition in conditions for parameter in condition.parameters),
        )


def _any_value(name: str, test: str, parameters: Collection[str | int | float]) -> Condition:
    # json_each gives a list's elements, one row for a scalar, none for a missing field. `test` is
    # made of the constants above and question marks, so S608 does not apply.
    return Condition(
        f"EXISTS (SELECT 1 FROM json_each(documents.metadata, ?) AS value WHERE {test})",  # noqa: S608
        (f'$."{name}"', *parameters),
    )


def _marks(values: Collection[object]) -> str:
    return ", ".join("?" * len(values))
