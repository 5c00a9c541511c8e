"""Declared metadata fields: what they let in, and what is said of the rest."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest

from service.errors import InputError
from service.search.corpora import Corpora, Corpus
from service.search.corpus import STORE_FILE
from service.search.document import Document, Metadata
from service.search.fields import FieldTypes, check_types
from tests.service.search.samples import DIMENSION, make_corpus, sample_vectors

FIELDS: FieldTypes = {"year": "integer", "weight": "number", "topic": "string", "open": "boolean"}


@pytest.fixture
def declared(corpora: Corpora) -> Corpus:
    return corpora.create("declared", model="m", space="s", dimension=DIMENSION, fields=FIELDS)


def upsert(corpus: Corpus, *metadata: Metadata) -> None:
    documents = [Document(f"d{i}", "text", "en", each) for i, each in enumerate(metadata)]
    corpus.upsert(documents, sample_vectors(len(documents)))


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"year": 1999, "weight": 1.5, "topic": "law", "open": True},
        {"weight": 2, "topic": ["law", "art", None], "year": None, "open": []},
    ],
)
def test_what_is_as_declared_is_stored(declared: Corpus, metadata: Metadata) -> None:
    upsert(declared, metadata)
    assert declared.get_document("d0").metadata == metadata


@pytest.mark.parametrize(
    ("metadata", "field", "given"),
    [
        ({"tpoic": "law"}, "tpoic", "'law'"),
        ({"year": "1999"}, "year", "'1999'"),
        ({"year": 1999.5}, "year", "1999.5"),
        ({"year": True}, "year", "True"),
        ({"weight": "2"}, "weight", "'2'"),
        ({"topic": ["law", 3]}, "topic", "3"),
        ({"open": 0}, "open", "0"),
    ],
)
def test_what_is_not_is_refused_whole(
    declared: Corpus, metadata: Metadata, field: str, given: str
) -> None:
    with pytest.raises(InputError) as refused:
        upsert(declared, {"year": 1}, metadata)
    assert refused.value.field == f"documents[1].metadata.{field}"
    assert refused.value.given == given
    assert refused.value.remedy
    assert declared.info().documents == 0


def test_a_filter_on_a_field_that_is_not_declared_is_always_an_error(declared: Corpus) -> None:
    upsert(declared, {"topic": "law"})
    filter = {"or": [{"topic": "law"}, {"tpoic": "law"}]}
    calls: list[Callable[[], object]] = [
        lambda: declared.search(sample_vectors(1), k=3, filter=filter),
        lambda: declared.page(filter=filter),
        lambda: declared.delete_where(filter),
    ]
    for call in calls:
        with pytest.raises(InputError, match="tpoic") as refused:
            call()
        assert "topic (string)" in str(refused.value)
    assert declared.info().documents == 1


def test_a_declared_field_that_no_document_has_yet_is_none(declared: Corpus) -> None:
    upsert(declared, {"topic": "law"})
    assert declared.search(sample_vectors(1), k=3, filter={"year": 1999}) == [[]]
    assert declared.delete_where({"year": {"gt": 1}}) == 0


@pytest.mark.parametrize(
    "fields", [{"year": "date"}, {"year": 3}, {'y"': "string"}, {"": "string"}]
)
def test_what_cannot_be_declared_is_refused(corpora: Corpora, fields: FieldTypes) -> None:
    with pytest.raises(InputError):
        corpora.create("wrong", model="m", space="s", dimension=DIMENSION, fields=fields)
    with pytest.raises(InputError):
        check_types(fields)
    assert corpora.list() == ()


def test_the_declaration_stays(corpora: Corpora, declared: Corpus) -> None:
    assert declared.info().fields == FIELDS
    with corpora.successor(declared, model="n", space="t", dimension=4) as successor:
        assert successor.corpus.fields == FIELDS
    corpora.close()
    again = Corpora(corpora.directory)
    assert again.get("declared").fields == FIELDS
    again.close()


def test_a_corpus_of_before_there_were_declarations_takes_any_field(corpora: Corpora) -> None:
    make_corpus(corpora, documents=60)
    corpora.close()
    path = corpora.directory / "demo" / STORE_FILE
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("""
            ALTER TABLE corpus DROP COLUMN fields;
            ALTER TABLE corpus DROP COLUMN identity;
            PRAGMA user_version = 2;
        """)
    again = Corpora(corpora.directory)
    assert again.damaged == {}
    assert again.get("demo").fields is None
    upsert(again.get("demo"), {"any": "thing"})
    assert again.get("demo").info().documents == 60
    again.close()
