"""Metadata filters, compiled to SQL with bound parameters.

    {"topic": "law"}                          the field is this value
    {"topic": {"in": ["law", "health"]}}      the field is one of these
    {"year": {"gte": 1990, "lt": 2000}}       numbers or strings in a range: gt, gte, lt, lte
    {"topic": "law", "year": 1999}            both
    {"and": [...]}  {"or": [...]}  {"not": {...}}

A field that holds a list matches where one of its elements does. `null` matches where the field
has no value: missing, null or an empty list. Types are never converted: 1 is not "1" nor true.
Strings are compared by code point.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from service.errors import InputError
from service.search.document import Scalar, check_field, check_language, check_scalar

Filter: TypeAlias = Mapping[str, object]
"""A parsed JSON object, as above."""

MAX_DEPTH = 16
MAX_COMPARISONS = 256
MAX_VALUES = 10_000
"""Below SQLite's own limits on an expression's depth (1,000) and parameters (32,766)."""

_RANGE_OPERATORS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}

# Of SQLite's json_each: the types a Python value may equal.
_TEXT = "value.type = 'text'"
_NUMBER = "value.type IN ('integer', 'real')"


@dataclass(frozen=True, slots=True)
class Condition:
    """An SQL expression over a row of `documents`, and the parameters it binds, in order."""

    sql: str
    parameters: tuple[str | int | float, ...] = ()


def compile_conditions(
    filter: Filter | None, languages: Collection[str] | None = None
) -> Condition | None:
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
        conditions.append(
            Condition(f"documents.language IN ({_marks(languages)})", tuple(languages))
        )
    if filter is not None:
        conditions.append(_Compiler().compile(filter, "filter", MAX_DEPTH))
    return _join(conditions, "AND") if conditions else None


class _Compiler:
    """Walks a filter once, counting what SQLite allows only so many of."""

    def __init__(self) -> None:
        self._comparisons_left = MAX_COMPARISONS
        self._values_left = MAX_VALUES

    def compile(self, filter: object, field: str, depth: int) -> Condition:
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
        return _join(conditions, "AND")

    def _all_of(self, operand: object, field: str, depth: int) -> Condition:
        return _join(self._each(operand, field, depth), "AND")

    def _any_of(self, operand: object, field: str, depth: int) -> Condition:
        return _join(self._each(operand, field, depth), "OR")

    def _none_of(self, operand: object, field: str, depth: int) -> Condition:
        condition = self.compile(operand, field, depth)
        return Condition(f"NOT {condition.sql}", condition.parameters)

    def _each(self, operand: object, field: str, depth: int) -> list[Condition]:
        if not isinstance(operand, list) or not operand:
            raise InputError("A list of filters is due here.", field=field, given=operand)
        return [
            self.compile(part, f"{field}[{number}]", depth) for number, part in enumerate(operand)
        ]

    def _compare(self, name: str, operand: object, field: str) -> Condition:
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

    def _operators(self, name: str, operators: Mapping[str, object], field: str) -> Condition:
        if set(operators) == {"in"}:
            values = operators["in"]
            if not isinstance(values, list):
                raise InputError("A list of values is due here.", field=f"{field}.in", given=values)
            return self._one_of(name, values, f"{field}.in")
        if operators and set(operators) <= set(_RANGE_OPERATORS):
            return self._in_range(name, operators, field)
        raise InputError(
            "These operators are not understood together.",
            field=field,
            given=sorted(map(str, operators)),
            remedy="Use in alone, or any of gt, gte, lt and lte.",
        )

    def _one_of(self, name: str, operands: list[object], field: str) -> Condition:
        values = [self._scalar(operand, field) for operand in operands]
        texts, numbers = _texts(values), _numbers(values)
        booleans = sorted({str(value).lower() for value in values if isinstance(value, bool)})
        options = []
        if texts:
            options.append(_any_value(name, f"{_TEXT} AND value.value IN ({_marks(texts)})", texts))
        if numbers:
            options.append(
                _any_value(name, f"{_NUMBER} AND value.value IN ({_marks(numbers)})", numbers)
            )
        if booleans:
            options.append(_any_value(name, f"value.type IN ({_marks(booleans)})", booleans))
        if None in values:
            present = _any_value(name, "value.type <> 'null'", ())
            options.append(Condition(f"NOT {present.sql}", present.parameters))
        return _join(options, "OR") if options else Condition("0")

    def _in_range(self, name: str, operators: Mapping[str, object], field: str) -> Condition:
        bounds = {key: self._scalar(value, f"{field}.{key}") for key, value in operators.items()}
        texts, numbers = _texts(bounds.values()), _numbers(bounds.values())
        if len(bounds) not in (len(texts), len(numbers)):
            raise InputError(
                "The ends of a range are numbers, or strings, not a mix.",
                field=field,
                given=dict(operators),
            )
        kind = _TEXT if texts else _NUMBER
        tests = [kind, *(f"value.value {_RANGE_OPERATORS[key]} ?" for key in bounds)]
        return _any_value(name, " AND ".join(tests), texts or numbers)

    def _scalar(self, value: object, field: str) -> Scalar:
        self._values_left -= 1
        if self._values_left < 0:
            raise InputError(f"A filter holds at most {MAX_VALUES} values.", field=field)
        return check_scalar(value, field)


def _texts(values: Iterable[Scalar]) -> list[str]:
    return [value for value in values if isinstance(value, str)]


def _numbers(values: Iterable[Scalar]) -> list[int | float]:
    # To Python a bool is an int; to JSON it is not.
    return [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]


def _any_value(name: str, test: str, parameters: Collection[str | int | float]) -> Condition:
    # json_each gives a list's elements, one row for a scalar, none for a missing field. `test` is
    # made of the constants above and question marks, so S608 does not apply.
    return Condition(
        f"EXISTS (SELECT 1 FROM json_each(documents.metadata, ?) AS value WHERE {test})",  # noqa: S608
        (f'$."{name}"', *parameters),
    )


def _join(conditions: list[Condition], word: str) -> Condition:
    return Condition(
        "(" + f" {word} ".join(condition.sql for condition in conditions) + ")",
        tuple(parameter for condition in conditions for parameter in condition.parameters),
    )


def _marks(values: Collection[object]) -> str:
    return ", ".join("?" * len(values))
