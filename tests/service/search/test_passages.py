"""Documents in passages: split, stored, found by the one that matched, and replaced as a whole."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import InputError
from service.inference.session import Vectors
from service.search.corpora import Corpora, Corpus
from service.search.document import Document
from service.search.mining import Side, mine
from service.search.passages import PassagePolicy, mean_vectors, passage_texts, vector_counts
from tests.service.search.samples import DIMENSION, sample_vectors

POLICY = PassagePolicy(words=8, overlap_sentences=0)
AXES = np.eye(DIMENSION, dtype=np.float32)


def in_passages(id: str, count: int) -> Document:
    """A document of `count` passages of one character each; one is no passage at all."""
    spans = tuple((i, i + 1) for i in range(count))
    return Document(id, "abcdefghijklmnop"[:count], "en", {"n": count}, spans if count > 1 else ())


@pytest.fixture
def corpus(corpora: Corpora) -> Corpus:
    return corpora.create("long", model="m", space="s", dimension=DIMENSION, passages=POLICY)


def found(corpus: Corpus, query: Vectors, k: int = 10) -> list[tuple[str, tuple[int, int] | None]]:
    (hits,) = corpus.search(query[None], k=k)
    return [(hit.id, hit.passage) for hit in hits]


def test_a_long_text_is_split_and_a_short_one_is_not() -> None:
    text = "One two three four five. Six seven eight. Nine ten eleven twelve."
    document = POLICY.split(Document("1", text))
    assert passage_texts([document]) == [
        "One two three four five. Six seven eight.", "Nine ten eleven twelve.",
    ]  # fmt: skip
    assert POLICY.split(Document("2", "One two.")).passages == ()
    assert vector_counts([document, Document("2", "One two.")]).tolist() == [2, 1]


def test_a_policy_names_the_number_out_of_range() -> None:
    with pytest.raises(InputError, match=r"passages\.words"):
        PassagePolicy(words=1)
    with pytest.raises(InputError, match=r"passages\.overlap_sentences"):
        PassagePolicy(overlap_sentences=-1)


def test_a_hit_is_a_document_once_with_the_passage_that_matched(corpus: Corpus) -> None:
    corpus.upsert([in_passages("whole", 1), in_passages("split", 3)], AXES[:4])
    assert found(corpus, AXES[2]) == [("split", (1, 2)), ("whole", None)]
    assert found(corpus, AXES[0])[0] == ("whole", None)
    assert corpus.info().documents == 2
    assert corpus.info().passages == POLICY


def test_many_near_passages_take_no_other_documents_place(corpus: Corpus) -> None:
    corpus.upsert([in_passages("many", 16)], np.repeat(AXES[:1], 16, axis=0))
    corpus.upsert([in_passages(f"{i}", 1) for i in range(3)], AXES[1:4])
    assert len(found(corpus, AXES[0], k=4)) == 4
    (hits,) = corpus.search(AXES[:1], k=4, filter={"n": 16})
    assert [hit.id for hit in hits] == ["many"]


def test_what_is_left_out_is_left_out_by_any_of_its_passages(corpus: Corpus) -> None:
    corpus.upsert([in_passages("split", 3), in_passages("whole", 1)], AXES[:4])
    for axis in range(3):
        (hits,) = corpus.search(AXES[axis, None], k=1, exclude=[["split"]])
        assert [hit.id for hit in hits] == ["whole"]
    pairs = list(mine(Side(corpus), Side(corpus), threshold=-1.0))
    assert pairs
    assert all(pair.source != pair.target for pair in pairs)


def test_neighbours_of_a_document_are_those_of_its_mean(corpus: Corpus) -> None:
    corpus.upsert([in_passages("split", 2), in_passages("whole", 1)], AXES[:3])
    mean = (AXES[0] + AXES[1]) / np.sqrt(2)
    np.testing.assert_allclose(corpus.vectors_of(["whole", "split"]), [AXES[2], mean], atol=1e-6)
    np.testing.assert_allclose(mean_vectors(AXES[:3], [2, 1]), [mean, AXES[2]], atol=1e-6)


def test_passages_are_kept_over_a_restart(corpora: Corpora, corpus: Corpus) -> None:
    corpus.upsert([in_passages("split", 3)], AXES[:3])
    corpora.close()
    again = Corpora(corpora.directory)
    reopened = again.get("long")
    assert reopened.passages == POLICY
    assert found(reopened, AXES[1]) == [("split", (1, 2))]
    assert reopened.get_document("split").passages == ((0, 1), (1, 2), (2, 3))
    again.close()


def test_a_corpus_of_whole_documents_takes_no_passages(corpora: Corpora) -> None:
    plain = corpora.create("plain", model="m", space="s", dimension=DIMENSION)
    with pytest.raises(InputError, match=r"documents\[0\]\.passages"):
        plain.upsert([in_passages("split", 2)], AXES[:2])


def test_each_passage_needs_its_vector(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="vectors"):
        corpus.upsert([in_passages("split", 3)], AXES[:1])


WRITES = st.lists(
    st.tuples(st.sampled_from("abcd"), st.integers(0, 4)), min_size=1, max_size=12
)  # fmt: skip


@settings(deadline=None, max_examples=25)
@given(WRITES)
def test_index_and_store_agree_after_any_writes(
    tmp_path_factory: pytest.TempPathFactory, writes: list[tuple[str, int]]
) -> None:
    """A write of 0 passages deletes; brute force over what should be there is the reference."""
    corpora = Corpora(tmp_path_factory.mktemp("corpora"))
    corpus = corpora.create("long", model="m", space="s", dimension=DIMENSION, passages=POLICY)
    expected: dict[str, Vectors] = {}
    for number, (id, count) in enumerate(writes):
        if count == 0:
            assert corpus.delete([id]) == (1 if expected.pop(id, None) is not None else 0)
            continue
        vectors = sample_vectors(count, seed=number)
        corpus.upsert([in_passages(id, count)], vectors)
        expected[id] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    query = sample_vectors(1, seed=99)
    unit = query[0] / np.linalg.norm(query[0])
    best = {id: float((rows @ unit).max()) for id, rows in expected.items()}
    for reopened in (False, True):
        if reopened:
            corpora.close()
            corpora = Corpora(corpora.directory)
            corpus = corpora.get("long")
        (hits,) = corpus.search(query, k=10)
        assert [hit.id for hit in hits] == sorted(best, key=lambda id: -best[id])
        assert [hit.score for hit in hits] == pytest.approx(
            sorted(best.values(), reverse=True), abs=1e-6
        )
    corpora.close()


def test_a_corpus_of_the_first_schema_opens(tmp_path: Path) -> None:
    """The tables as the first version made them."""
    folder = tmp_path / "old"
    folder.mkdir()
    old = sqlite3.connect(folder / "documents.sqlite3")
    old.executescript("""
        PRAGMA journal_mode = WAL;
        CREATE TABLE corpus (only INTEGER PRIMARY KEY CHECK (only = 1), model TEXT NOT NULL,
            space TEXT NOT NULL, dimension INTEGER NOT NULL, metadata TEXT NOT NULL,
            created TEXT NOT NULL, generation INTEGER NOT NULL) STRICT;
        CREATE TABLE documents (key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
            text TEXT NOT NULL, language TEXT, metadata TEXT NOT NULL) STRICT;
        CREATE INDEX documents_language ON documents (language);
        CREATE TABLE vectors (key INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;
        PRAGMA user_version = 1;
        INSERT INTO corpus VALUES (1, 'm', 's', 8, '{}', '2026-01-02T03:04:05+00:00', 7);
        INSERT INTO documents VALUES (9223372036854770000, 'a', 'text', NULL, '{}');
    """)
    old.execute("INSERT INTO vectors VALUES (9223372036854770000, ?)", (AXES[0].tobytes(),))
    old.commit()
    old.close()
    corpora = Corpora(tmp_path)
    corpus = corpora.get("old")
    assert found(corpus, AXES[0]) == [("a", None)]
    corpus.upsert([Document("b", "text")], AXES[1:2])  # its key is greater than the old one's
    assert found(corpus, AXES[1])[0] == ("b", None)
    corpora.close()
