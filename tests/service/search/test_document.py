from __future__ import annotations

import math
from typing import Any

import pytest

from service.errors import InputError, MalformedError, TooLargeError
from service.search.document import (
    MAX_METADATA_BYTES,
    MAX_TEXT_CHARACTERS,
    Document,
    check_corpus_name,
    document_from_json,
)


def test_ids_and_texts_of_any_script_are_taken() -> None:
    document = Document(
        "日本/語 ../x?#%", "Ольга 👩‍🔬\n\t", "zh-hant", {"год": [1, 2.5, None, True, "ё"]}
    )
    assert document.id == "日本/語 ../x?#%"


@pytest.mark.parametrize(
    ("fields", "at_fault"),
    [
        ({"id": ""}, "id"),
        ({"id": "x" * 257}, "id"),
        ({"id": "a\0b"}, "id"),
        ({"id": "a\nb"}, "id"),
        ({"id": "\ud800"}, "id"),
        ({"id": "."}, "id"),
        ({"id": ".."}, "id"),
        ({"id": 7}, "id"),
        ({"text": " \n"}, "text"),
        ({"text": "\udfff"}, "text"),
        ({"text": None}, "text"),
        ({"language": "German"}, "language"),
        ({"language": "DE"}, "language"),
        ({"language": ""}, "language"),
        ({"language": 1}, "language"),
        ({"metadata": []}, "metadata"),
        ({"metadata": {"": 1}}, "metadata"),
        ({"metadata": {'a"b': 1}}, "metadata"),
        ({"metadata": {"a\\b": 1}}, "metadata"),
        ({"metadata": {"a": {"b": 1}}}, "metadata.a"),
        ({"metadata": {"a": [[1]]}}, "metadata.a"),
        ({"metadata": {"a": 2**63}}, "metadata.a"),
        ({"metadata": {"a": 1.8446744073709552e19}}, "metadata.a"),
        ({"metadata": {"a": [-(2.0**63)]}}, "metadata.a"),
        ({"metadata": {"a": math.nan}}, "metadata.a"),
        ({"metadata": {"a": "x\0"}}, "metadata.a"),
        ({"metadata": {"a": ["\ud800"]}}, "metadata.a"),
    ],
)
def test_what_cannot_be_stored_is_refused_with_its_field(
    fields: dict[str, Any], at_fault: str
) -> None:
    with pytest.raises(InputError) as caught:
        Document(**({"id": "a", "text": "b"} | fields))
    assert caught.value.field == at_fault


def test_sizes_are_limited() -> None:
    with pytest.raises(TooLargeError, match="characters"):
        Document("a", "x" * (MAX_TEXT_CHARACTERS + 1))
    with pytest.raises(TooLargeError, match="bytes"):
        Document("a", "b", None, {"a": "x" * MAX_METADATA_BYTES})


def test_json_becomes_a_document() -> None:
    record = {"id": "a", "text": "b", "language": "de", "metadata": {"topic": "law"}}
    assert document_from_json(record) == Document("a", "b", "de", {"topic": "law"})
    assert document_from_json({"id": "a", "text": "b", "metadata": None}) == Document("a", "b")


@pytest.mark.parametrize(
    ("record", "at_fault"),
    [
        ("text", "documents[3]"),
        ({"id": "a"}, "documents[3].text"),
        ({"text": "a"}, "documents[3].id"),
        ({"id": "a", "text": "b", "lang": "de"}, "documents[3].lang"),
    ],
)
def test_json_that_is_no_document_is_malformed(record: object, at_fault: str) -> None:
    with pytest.raises(MalformedError) as caught:
        document_from_json(record, field="documents[3]")
    assert caught.value.field == at_fault


def test_field_at_fault_is_named_from_the_record_on() -> None:
    record = {"id": "a", "text": "b", "metadata": {"x": {}}}
    with pytest.raises(InputError) as caught:
        document_from_json(record, field="documents[3]")
    assert caught.value.field == "documents[3].metadata.x"


@pytest.mark.parametrize("name", ["a", "0", "news-2026.v1_b", "x" * 64])
def test_plain_corpus_names_are_taken(name: str) -> None:
    check_corpus_name(name)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../a", "a/b", "a\\b", "A", "-a", ".new-a", "a b", "ä", "x" * 65, "a\n"]
)
def test_corpus_names_that_could_be_paths_are_refused(name: str) -> None:
    with pytest.raises(InputError) as caught:
        check_corpus_name(name)
    assert caught.value.field == "name"
