"""Metadata filters as Milvus expressions.

A document's metadata is kept twice: as JSON, to be given back and for ranges, and as `facets`, an
array of strings that an inverted index answers on any number of machines. A facet names a field and
one of its values with its type, so that types are never mixed up:

    topic"?         the field is there, be it null or an empty list
    topic"          the field has a value
    topic"slaw      the string law; n stands before a number, b before a boolean
    year"#          the field is one number, and may be compared; $ for one string

No field's name holds a quote, so no value can look like another field.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from service.milvus.client import listed, quoted
from service.search.document import Metadata, Scalar
from service.search.filters import RANGE_OPERATORS, Filter, Operands, compile_filter

_NOTHING = 'id == ""'  # no document's id is empty


def facets_of(metadata: Metadata) -> list[str]:
    """Return the facets of a document."""
    facets = []
    for name, value in metadata.items():
        several = isinstance(value, list)
        values = value if isinstance(value, list) else [value]
        present = [part for part in values if part is not None]
        facets.append(f'{name}"?')
        if present:
            facets.append(_facet(name))
        facets += [_facet(name, part) for part in present]
        if not several and isinstance(value, str):
            facets.append(f'{name}"$')
        elif not several and isinstance(value, int | float) and not isinstance(value, bool):
            facets.append(f'{name}"#')
    return list(dict.fromkeys(facets))


def compile_expression(
    filter: Filter | None, languages: Collection[str] | None = None
) -> str | None:
    """Return the expression that `filter` and `languages` make together; None where all match.

    Raises:
        InputError: What is not understood, with its place in the filter as the field.
    """
    return compile_filter(filter, languages, _Expressions())


def has_field(name: str) -> str:
    """Return the expression for documents that have the metadata field `name`."""
    facet = quoted(f'{name}"?')
    return f"array_contains(facets, {facet})"


class _Expressions:
    """How Milvus says what a filter may say."""

    def one_of(self, name: str, operands: Operands) -> str:
        values: list[Scalar] = [*operands.texts, *operands.numbers, *operands.booleans]
        options = []
        if values:
            facets = listed(_facet(name, value) for value in values)
            options.append(f"array_contains_any(facets, {facets})")
        if operands.null:
            options.append(self.negation(f"array_contains(facets, {quoted(_facet(name))})"))
        return self.join(options, "OR") if options else _NOTHING

    def in_range(self, name: str, bounds: Mapping[str, str | int | float]) -> str:
        textual = any(isinstance(end, str) for end in bounds.values())
        kind = quoted(f'{name}"{"$" if textual else "#"}')
        tests = [f"array_contains(facets, {kind})"]
        for key, end in bounds.items():
            literal = quoted(end) if isinstance(end, str) else repr(end)
            tests.append(f"metadata[{quoted(name)}] {RANGE_OPERATORS[key]} {literal}")
        return self.join(tests, "AND")

    def languages(self, languages: Collection[str]) -> str:
        return f"language in {listed(languages)}"

    def negation(self, condition: str) -> str:
        return f"(not ({condition}))"

    def join(self, conditions: list[str], word: Literal["AND", "OR"]) -> str:
        return "(" + f" {word.lower()} ".join(conditions) + ")"


def _facet(name: str, value: Scalar = None) -> str:
    if value is None:
        return f'{name}"'
    if isinstance(value, bool):
        return f'{name}"b{str(value).lower()}'
    if isinstance(value, str):
        return f'{name}"s{value}'
    # 1 and 1.0 are the same number.
    return f'{name}"n{int(value) if value == int(value) else value!r}'
