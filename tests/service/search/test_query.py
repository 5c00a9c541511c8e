"""Offset, grouping and margin over a real corpus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from service.errors import DeadlineError, InputError
from service.inference.session import Vectors
from service.search.corpora import Corpora, Corpus
from service.search.document import Document
from service.search.grouping import Grouping
from service.search.margin import NEIGHBOURS
from service.search.query import Found, Query, find
from tests.service.search.samples import DIMENSION, make_corpus, sample_vectors

QUERIES = sample_vectors(3, seed=7)


def ids(rows: list[list[Found]]) -> list[list[str]]:
    return [[found.hit.id for found in row] for row in rows]


def test_pages_of_hits_join_to_the_whole(corpus: Corpus) -> None:
    whole = ids(find(corpus, QUERIES, Query(k=60)))
    pages = [ids(find(corpus, QUERIES, Query(k=7, offset=start))) for start in range(0, 60, 7)]
    joined = [[id for page in pages for id in page[row]] for row in range(3)]
    assert joined == whole


@pytest.mark.parametrize(
    ("k", "offset", "at_fault"),
    [(0, 0, "k"), (10_001, 0, "k"), (1, -1, "offset"), (1, 10_000, "offset")],
)
def test_an_offset_has_its_limits(k: int, offset: int, at_fault: str) -> None:
    with pytest.raises(InputError) as caught:
        Query(k=k, offset=offset)
    assert caught.value.field == at_fault
    assert caught.value.given == str(k if at_fault == "k" else offset)


def clustered(corpora: Corpora, groups: int, each: int) -> Corpus:
    """`groups` directions with `each` documents very near to each of them."""
    corpus = make_corpus(corpora)
    rng = np.random.default_rng(3)
    axes = sample_vectors(groups, seed=5)
    for g, axis in enumerate(axes):
        near = axis + 0.02 * rng.standard_normal((each, DIMENSION)).astype(np.float32)
        corpus.upsert([Document(f"{g}-{i}", "text", None, {"g": g}) for i in range(each)], near)
    return corpus


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_a_search_is_broken_off_between_its_steps(corpus: Corpus, most: int) -> None:
    """Before it begins, and before the hits of each vector are ordered."""
    asked = 0

    def check() -> None:
        nonlocal asked
        asked += 1
        if asked > most:
            raise DeadlineError("It is late.")

    with pytest.raises(DeadlineError):
        find(corpus, QUERIES, Query(by_margin=True), check=check)
    assert asked == most + 1


@pytest.mark.parametrize("query", [Query(grouping=Grouping(score=0.98)), Query(by_margin=True)])
def test_a_hit_that_is_deleted_meanwhile_is_left_out(
    corpus: Corpus, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((best,),) = ids(find(corpus, QUERIES[:1], Query(k=1)))
    real = corpus.vectors_of

    def vectors_of(wanted: Sequence[str]) -> Vectors:
        corpus.delete([best])
        return real(wanted)

    monkeypatch.setattr(corpus, "vectors_of", vectors_of)
    (row,) = ids(find(corpus, QUERIES[:1], query))
    assert len(row) == 10
    assert best not in row


@pytest.mark.parametrize("grouping", [Grouping(score=0.98), Grouping(field="g")])
def test_a_group_is_one_hit_with_its_members(corpora: Corpora, grouping: Grouping) -> None:
    corpus = clustered(corpora, groups=4, each=30)
    (row,) = find(corpus, QUERIES[:1], Query(k=3, grouping=grouping))
    assert len({found.hit.metadata["g"] for found in row}) == 3
    for found in row:
        assert len(found.members) == 29
        assert {hit.metadata["g"] for hit in found.members} == {found.hit.metadata["g"]}
        assert all(hit.score <= found.hit.score for hit in found.members)
    (later,) = find(corpus, QUERIES[:1], Query(k=1, offset=2, grouping=grouping))
    assert later[0].hit == row[2].hit


def test_who_is_asked_again_deeper_keeps_its_own_exclusions(corpora: Corpora) -> None:
    """The first query has its groups at once; only the second is looked for again."""
    corpus = clustered(corpora, groups=2, each=30)
    lone = sample_vectors(1, seed=11)
    corpus.upsert([Document(f"lone-{i}", "t", None, {"g": f"l{i}"}) for i in range(12)],
                  np.repeat(lone, 12, axis=0))  # fmt: skip
    query = Query(k=2, grouping=Grouping(field="g"), exclude=[["lone-0"], ["0-0", "0-1"]])
    alone, asked_again = find(corpus, np.vstack([lone, sample_vectors(2, seed=5)[:1]]), query)
    found = [
        {hit.id for one in row for hit in (one.hit, *one.members)} for row in (alone, asked_again)
    ]
    assert len(alone) == len(asked_again) == 2
    assert "lone-0" not in found[0]
    assert not found[1] & {"0-0", "0-1"}
    assert len(asked_again[0].members) == 27


def test_hits_without_the_field_stay_alone_and_types_are_told_apart(corpora: Corpora) -> None:
    corpus = make_corpus(corpora)
    values: list[Any] = [1, 1.0, True, "1", None, ["1"], 1]
    documents = [Document(f"{i}", "t", None, {"v": v}) for i, v in enumerate(values)]
    corpus.upsert([*documents, Document("none", "t")], sample_vectors(8))
    (row,) = find(corpus, QUERIES[:1], Query(k=10, grouping=Grouping(field="v")))
    assert sorted(len(found.members) for found in row) == [0] * 6 + [1]


@pytest.mark.parametrize(
    "values", [{}, {"score": 0.5, "field": "g"}, {"score": 2.0}, {"field": 'a"b'}]
)
def test_a_grouping_is_by_one_thing(values: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Grouping(**values)


def test_margins_are_those_of_the_equation(corpus: Corpus) -> None:
    """By brute force over all vectors, the query's own neighbours among all documents."""
    names = [f"d{i}" for i in range(60)]
    all_vectors = corpus.vectors_of(names)
    query = QUERIES[0] / np.linalg.norm(QUERIES[0])
    cosines = all_vectors @ query
    among = all_vectors @ all_vectors.T
    np.fill_diagonal(among, -np.inf)
    of_query = np.sort(cosines)[-NEIGHBOURS:].mean()
    of_documents = np.sort(among, axis=1)[:, -NEIGHBOURS:].mean(axis=1)
    margins = cosines / ((of_query + of_documents) / 2)
    nearest = np.argsort(-cosines)[:20]  # the candidates of k = 5
    expected = nearest[np.argsort(-margins[nearest], kind="stable")][:5]
    (row,) = find(corpus, QUERIES[:1], Query(k=5, by_margin=True))
    assert [found.hit.id for found in row] == [names[i] for i in expected]
    assert [found.margin for found in row] == pytest.approx(margins[expected], abs=1e-5)


def test_margin_keeps_to_the_conditions_and_an_empty_answer_stays_empty(corpus: Corpus) -> None:
    (row,) = find(corpus, QUERIES[:1], Query(k=5, by_margin=True, languages=["de"]))
    assert {found.hit.language for found in row} == {"de"}
    nothing = Query(k=5, by_margin=True, min_score=1.0, grouping=Grouping(score=0.5))
    assert find(corpus, QUERIES[:2], nothing) == [[], []]


def test_each_query_keeps_its_own_exclusions(corpus: Corpus) -> None:
    names = ["d0", "d1", "d2"]
    query = Query(k=4, exclude=[[name] for name in names], grouping=Grouping(score=0.5))
    rows = find(corpus, corpus.vectors_of(names), query)
    for name, row in zip(names, rows, strict=True):
        assert name not in {hit.id for found in row for hit in (found.hit, *found.members)}
