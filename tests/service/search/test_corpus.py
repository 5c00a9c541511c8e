from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.errors import ConflictError, InputError, NotFoundError, StorageError
from service.search.backend import UpsertCounts
from service.search.checks import unit_vectors
from service.search.corpora import Corpora, Corpus
from service.search.corpus import INDEX_FILE, STORE_FILE
from service.search.document import Document
from service.search.index import VectorIndex
from tests.service.search.samples import (
    DIMENSION,
    LANGUAGES,
    TOPICS,
    make_corpus,
    sample_documents,
    sample_vectors,
)


def ids(corpus: Corpus, **conditions: Any) -> list[list[str]]:  # noqa: ANN401
    hits = corpus.search(sample_vectors(3, seed=9), k=100, **conditions)
    return [[hit.id for hit in row] for row in hits]


def reopen(corpora: Corpora) -> Corpora:
    corpora.close()
    return Corpora(corpora.directory)


class TestWriting:
    def test_upsert_counts_what_is_new_and_what_was_there(self, corpus: Corpus) -> None:
        counts = corpus.upsert(sample_documents(20, start=50), sample_vectors(20))
        assert counts == UpsertCounts(inserted=10, updated=10)
        assert corpus.info().documents == 70

    def test_replaced_document_is_found_by_its_new_vector_alone(self, corpus: Corpus) -> None:
        old, new = sample_vectors(60)[3], sample_vectors(1, seed=5)
        corpus.upsert([Document("d3", "new text")], new)
        (hits,) = corpus.search(new, k=1)
        assert (hits[0].id, hits[0].text, hits[0].metadata) == ("d3", "new text", {})
        assert hits[0].score == pytest.approx(1)
        (hits,) = corpus.search(old[None], k=100)
        assert [hit.id for hit in hits].count("d3") == 1
        assert hits[0].score < 0.999

    def test_no_documents_are_fine(self, corpus: Corpus) -> None:
        assert corpus.upsert([], sample_vectors(0)) == UpsertCounts(0, 0)

    def test_refused_batch_leaves_nothing(self, corpus: Corpus) -> None:
        documents = sample_documents(2, start=60)
        vectors = sample_vectors(2)
        for bad_documents, bad_vectors in (
            ([*documents, documents[0]], sample_vectors(3)),
            (documents, vectors[:, :-1]),
            (documents, vectors[:1]),
            (documents, np.full_like(vectors, np.nan)),
        ):
            with pytest.raises(InputError):
                corpus.upsert(bad_documents, bad_vectors)
        assert corpus.info().documents == 60

    def test_delete_counts_what_was_there(self, corpus: Corpus) -> None:
        assert corpus.delete(["d0", "d1", "nobody"]) == 2
        assert corpus.delete(["d0"]) == 0
        assert corpus.delete([]) == 0
        assert corpus.info().documents == 58
        assert not {"d0", "d1"} & set(ids(corpus)[0])

    def test_delete_by_filter(self, corpus: Corpus) -> None:
        assert corpus.delete_where({"topic": "law", "n": {"lt": 30}}) == 10
        assert corpus.delete_where({"topic": "law", "n": {"lt": 30}}) == 0
        assert len(ids(corpus)[0]) == 50

    def test_empty_filter_deletes_nothing(self, corpus: Corpus) -> None:
        with pytest.raises(InputError):
            corpus.delete_where({})
        assert corpus.info().documents == 60


class TestReading:
    def test_info_follows_writes(self, corpus: Corpus) -> None:
        info = corpus.info()
        assert (info.name, info.model, info.space) == ("demo", "tiny", "tiny-space")
        assert (info.dimension, info.documents, info.index) == (DIMENSION, 60, "flat")
        assert info.languages == {"de": 15, "en": 15, "fr": 15, "und": 15}
        assert info.bytes > 60 * DIMENSION * 4
        corpus.delete(["d0"])
        assert corpus.info().languages["de"] == 14

    def test_documents_come_in_the_order_asked_for(self, corpus: Corpus) -> None:
        assert [d.id for d in corpus.get_documents(["d9", "d2", "d9"])] == ["d9", "d2", "d9"]
        assert corpus.get_document("d4") == sample_documents(5)[4]

    def test_missing_id_is_named(self, corpus: Corpus) -> None:
        for read in (corpus.get_documents, corpus.vectors_of):
            with pytest.raises(NotFoundError) as caught:
                read(["d1", "nobody"])
            assert caught.value.given == "'nobody'"

    def test_vectors_are_stored_at_length_one(self, corpus: Corpus) -> None:
        expected = unit_vectors(sample_vectors(60), dimension=DIMENSION)[[7, 3]]
        np.testing.assert_array_equal(corpus.vectors_of(["d7", "d3"]), expected)

    def test_pages_cover_all_once(self, corpus: Corpus) -> None:
        seen: list[str] = []
        cursor = None
        for _ in range(9):
            page = corpus.page(cursor, limit=7)
            seen += [document.id for document in page.documents]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert seen == [f"d{i}" for i in range(60)]

    def test_last_page_has_no_next_one(self, corpus: Corpus) -> None:
        assert corpus.page(limit=60).next_cursor is None
        assert corpus.page(limit=59).next_cursor is not None

    def test_pages_can_be_filtered(self, corpus: Corpus) -> None:
        page = corpus.page(limit=3, language="de", filter={"topic": "art"})
        assert [document.id for document in page.documents] == ["d4", "d16", "d28"]
        page = corpus.page(page.next_cursor, limit=3, language="de", filter={"topic": "art"})
        assert [document.id for document in page.documents] == ["d40", "d52"]
        assert page.next_cursor is None


class TestSearching:
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(data=st.data())
    def test_hits_are_those_of_brute_force(self, corpus: Corpus, data: st.DataObject) -> None:
        k = data.draw(st.integers(1, 80), label="k")
        languages = data.draw(st.none() | st.sets(st.sampled_from(["de", "en", "ja"]), min_size=1))
        topic = data.draw(st.none() | st.sampled_from(TOPICS))
        at_least = data.draw(st.none() | st.integers(0, 60))
        min_score = data.draw(st.none() | st.floats(-1, 1, width=32))
        count = data.draw(st.sampled_from([1, 2, 25]))
        left_out = [
            data.draw(st.sets(st.sampled_from(["d1", "d2", "d3", "nobody"]))) for _ in range(count)
        ]
        filter: dict[str, object] = {}
        if topic is not None:
            filter["topic"] = topic
        if at_least is not None:
            filter["n"] = {"gte": at_least}
        queries = unit_vectors(sample_vectors(count, seed=3), dimension=DIMENSION)
        found = corpus.search(
            queries, k=k, languages=languages, filter=filter or None,
            min_score=min_score, exclude=left_out,
        )  # fmt: skip
        vectors = unit_vectors(sample_vectors(60), dimension=DIMENSION)
        for query, hits, excluded in zip(queries, found, left_out, strict=True):
            scores = {
                f"d{i}": float(np.clip(vectors[i] @ query, -1, 1))
                for i in range(60)
                if (languages is None or LANGUAGES[i % len(LANGUAGES)] in languages)
                and (topic is None or TOPICS[i % len(TOPICS)] == topic)
                and (at_least is None or i >= at_least)
                and f"d{i}" not in excluded
            }
            lowest = -2 if min_score is None else min_score
            sure = [id for id, score in scores.items() if score >= lowest + 1e-6]
            likely = [id for id, score in scores.items() if score >= lowest - 1e-6]
            assert min(k, len(sure)) <= len(hits) <= min(k, len(likely))
            best = sorted(scores.values(), reverse=True)[: len(hits)]
            np.testing.assert_allclose([hit.score for hit in hits], best, atol=1e-6)
            for hit in hits:
                assert scores[hit.id] == pytest.approx(hit.score, abs=1e-6)

    def test_hits_carry_their_documents(self, corpus: Corpus) -> None:
        (hits,) = corpus.search(sample_vectors(60)[5][None], k=2)
        assert (hits[0].id, hits[0].text, hits[0].language) == ("d5", "text 5", "en")
        assert hits[0].metadata == {"topic": "sea", "n": 5}
        assert 1 >= hits[0].score > hits[1].score

    def test_filters_are_answered_in_full_after_deletes(self, corpus: Corpus) -> None:
        corpus.delete([f"d{i}" for i in range(5)])  # too few to be taken out of the index at once
        assert corpus._index._rows.dead == 5
        assert all(len(row) == 18 for row in ids(corpus, filter={"topic": "law"}))
        assert all(len(row) == 55 for row in ids(corpus))

    def test_empty_corpus_finds_nothing(self, corpora: Corpora) -> None:
        assert ids(make_corpus(corpora)) == [[], [], []]

    def test_nothing_that_matches_is_no_error(self, corpus: Corpus) -> None:
        assert ids(corpus, filter={"topic": "cooking"}) == [[], [], []]
        assert ids(corpus, languages=["ja"]) == [[], [], []]
        assert ids(corpus, languages=["ja"] * 300_000) == [[], [], []]
        assert ids(corpus, min_score=1.0) == [[], [], []]

    @pytest.mark.parametrize(
        ("conditions", "at_fault"),
        [
            ({"k": 0}, "k"),
            ({"vectors": np.ones((1, DIMENSION + 1), dtype=np.float32)}, "vectors"),
            ({"vectors": np.full((1, DIMENSION), np.inf, dtype=np.float32)}, "vectors[0]"),
            ({"filter": {"a": [1]}}, "filter.a"),
            ({"languages": []}, "languages"),
            ({"min_score": np.nan}, "min_score"),
            ({"exclude": [["d1"], ["d2"]]}, "exclude"),
        ],
    )
    def test_bad_input_is_refused(
        self, corpus: Corpus, conditions: dict[str, Any], at_fault: str
    ) -> None:
        arguments: dict[str, Any] = {"vectors": sample_vectors(1), "k": 1, **conditions}
        with pytest.raises(InputError) as caught:
            corpus.search(**arguments)
        assert caught.value.field == at_fault

    def test_other_space_is_refused_with_the_way_out(self, corpus: Corpus) -> None:
        corpus.require_space("tiny-space", model="another model of the space")
        with pytest.raises(ConflictError) as caught:
            corpus.require_space("other-space", model="other")
        assert caught.value.remedy is not None
        assert "tiny" in caught.value.remedy


def damage_cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def damage_nothing_left(path: Path) -> None:
    path.write_bytes(b"")


def damage_missing(path: Path) -> None:
    path.unlink()


class TestReopening:
    def test_clean_stop_saves_the_index(
        self, corpora: Corpora, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        corpus.delete(["d3"])
        before = ids(corpus)
        corpora.close()

        def forbidden(*args: object) -> None:
            raise AssertionError("the index was built again")

        monkeypatch.setattr(VectorIndex, "add", forbidden)
        monkeypatch.setattr(VectorIndex, "remove", forbidden)
        opened = Corpora(corpora.directory)
        assert ids(opened.get("demo")) == before
        opened.close()

    @pytest.mark.parametrize("damage", [damage_cut, damage_nothing_left, damage_missing])
    def test_damaged_index_is_built_again(
        self, corpora: Corpora, corpus: Corpus, damage: Callable[[Path], None]
    ) -> None:
        before = ids(corpus)
        corpora.close()
        damage(corpora.directory / "demo" / INDEX_FILE)
        opened = Corpora(corpora.directory)
        assert ids(opened.get("demo")) == before
        assert (corpora.directory / "demo" / INDEX_FILE).exists() == (damage is not damage_missing)
        opened = reopen(opened)  # saved whole this time
        assert opened.get("demo")._index.unsaved == 0
        opened.close()

    @pytest.mark.usefixtures("corpus")
    def test_stale_index_catches_up(self, corpora: Corpora) -> None:
        corpora.close()
        path = corpora.directory / "demo" / INDEX_FILE
        stale = path.read_bytes()
        opened = Corpora(corpora.directory)
        changed = opened.get("demo")
        changed.delete(["d0", "d1"])
        changed.upsert(sample_documents(10, start=55), sample_vectors(10, seed=4))
        expected = ids(changed)
        opened.close()
        path.write_bytes(stale)
        opened = Corpora(corpora.directory)
        assert ids(opened.get("demo")) == expected
        opened.close()

    @pytest.mark.usefixtures("corpus")
    def test_index_of_a_restored_older_database_goes_back(self, corpora: Corpora) -> None:
        corpora.close()
        path = corpora.directory / "demo" / STORE_FILE
        older = path.read_bytes()
        opened = Corpora(corpora.directory)
        expected = ids(opened.get("demo"))
        opened.get("demo").upsert(sample_documents(70), sample_vectors(70, seed=4))
        opened.close()
        path.write_bytes(older)
        opened = Corpora(corpora.directory)
        assert ids(opened.get("demo")) == expected
        opened.close()

    @pytest.mark.usefixtures("corpus")
    def test_index_of_another_history_is_not_mistaken_for_this_one(self, corpora: Corpora) -> None:
        """A copy is restored, goes on with other documents, and is killed before it saves."""
        corpora.close()
        folder = corpora.directory / "demo"
        copy = (folder / STORE_FILE).read_bytes()
        opened = Corpora(corpora.directory)
        opened.get("demo").upsert(sample_documents(10, start=60), sample_vectors(10, seed=4))
        opened.close()
        left_behind = (folder / INDEX_FILE).read_bytes()
        (folder / STORE_FILE).write_bytes(copy)
        opened = Corpora(corpora.directory)
        opened.get("demo").upsert(sample_documents(10, start=60), sample_vectors(10, seed=5))
        expected = ids(opened.get("demo"))
        opened.close()
        (folder / INDEX_FILE).write_bytes(left_behind)
        opened = Corpora(corpora.directory)
        assert ids(opened.get("demo")) == expected
        opened.close()

    def test_large_changes_are_saved_on_the_way(
        self, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("service.search.live_index.SAVE_ROWS", 10)
        assert not (corpus._directory / INDEX_FILE).exists()
        corpus.upsert(sample_documents(40), sample_vectors(40))
        corpus.settle()
        assert (corpus._directory / INDEX_FILE).exists()
        assert corpus._index.unsaved == 0


class TestFailures:
    def test_writes_of_another_process_are_seen(self, corpora: Corpora, corpus: Corpus) -> None:
        other = Corpus(corpora.directory / "demo")
        other.upsert(sample_documents(10, start=60), sample_vectors(10, seed=4))
        other.delete(["d0"])
        assert ids(corpus) == ids(other)
        corpus.upsert(sample_documents(5, start=70), sample_vectors(5, seed=5))
        other.upsert(sample_documents(5, start=75), sample_vectors(5, seed=6))
        assert len(ids(corpus)[0]) == 79
        assert ids(corpus) == ids(other)
        other.close(save=False)

    def test_full_disk_loses_nothing(self, corpus: Corpus) -> None:
        writer = corpus._store._database._writer
        (pages,) = writer.execute("PRAGMA page_count").fetchone()
        writer.execute(f"PRAGMA max_page_count = {pages}")
        large = Document("large", "x" * 900_000)
        with pytest.raises(StorageError, match="disk is full"):
            corpus.upsert([*sample_documents(60), large], sample_vectors(61, seed=8))
        assert corpus.info().documents == 60
        assert corpus.get_document("d5") == sample_documents(60)[5]
        corpus.delete(["d5"])
        assert len(ids(corpus)[0]) == 59

    def test_index_that_cannot_follow_is_built_again(
        self, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def out_of_memory(*args: object) -> None:
            raise MemoryError

        with monkeypatch.context() as patch:
            patch.setattr(VectorIndex, "add", out_of_memory)
            corpus.upsert(sample_documents(2, start=60), sample_vectors(2))
        assert len(ids(corpus)[0]) == 62

    def test_index_that_cannot_be_saved_costs_no_write(
        self, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("service.search.live_index.SAVE_ROWS", 1)
        (corpus._directory / (INDEX_FILE + ".new")).mkdir()
        assert corpus.upsert(sample_documents(40), sample_vectors(40)).updated == 40
        assert len(ids(corpus)[0]) == 60
        corpus.settle()
        (corpus._directory / (INDEX_FILE + ".new")).rmdir()

    def test_damaged_page_is_a_storage_error(self, corpora: Corpora, corpus: Corpus) -> None:
        corpus.upsert(
            [Document(f"x{i}", f"{i} " * 2000) for i in range(50)], sample_vectors(50, seed=1)
        )
        corpora.close()
        path = corpora.directory / "demo" / STORE_FILE
        content = bytearray(path.read_bytes())
        with closing(sqlite3.connect(path)) as connection:
            (root,) = connection.execute(
                "SELECT rootpage FROM sqlite_schema WHERE name = 'documents'"
            ).fetchone()
            (size,) = connection.execute("PRAGMA page_size").fetchone()
        content[(root - 1) * size : root * size] = b"\xff" * size
        path.write_bytes(content)
        opened = Corpora(corpora.directory)
        with pytest.raises(StorageError, match="damaged"):
            opened.get("demo").page()
        opened.close()
