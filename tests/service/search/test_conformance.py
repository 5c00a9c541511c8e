"""What every store of corpora must do, run on each: the built-in one, and Milvus' embedded twin."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.errors import ConflictError, InputError, NotFoundError
from service.search.backend import CorporaBackend, CorpusBackend, UpsertCounts
from service.search.checks import unit_vectors
from service.search.corpora import Corpora
from service.search.document import Document, Metadata
from service.search.policy import IndexPolicy
from tests.service.search.samples import (
    DIMENSION,
    LANGUAGES,
    TOPICS,
    sample_documents,
    sample_vectors,
)

Open = Callable[[], CorporaBackend]

needs_milvus = pytest.mark.skipif(
    importlib.util.find_spec("milvus_lite") is None or importlib.util.find_spec("pymilvus") is None,
    reason="the extra milvus is not installed",
)
# The client's own: unclosed channels and deprecations inside of it and of what it imports.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(params=["built-in", pytest.param("milvus", marks=needs_milvus)], scope="module")
def opener(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Open:
    """Opens the same store, whichever it is, again and again."""
    folder = tmp_path_factory.mktemp("engine")
    if request.param == "built-in":
        return lambda: Corpora(folder / "corpora")
    from service.milvus.corpora import MilvusCorpora

    return lambda: MilvusCorpora(str(folder / "engine.db"))


class Engine:
    """A store that can be closed and opened, as over a restart."""

    def __init__(self, opener: Open) -> None:
        self._opener = opener
        self.corpora = opener()

    def restart(self) -> None:
        self.corpora.close()
        self.corpora = self._opener()


@pytest.fixture(scope="module")
def engine(opener: Open) -> Iterator[Engine]:
    engine = Engine(opener)
    yield engine
    engine.corpora.close()


@pytest.fixture
def corpus(engine: Engine) -> Iterator[CorpusBackend]:
    """The first 60 sample documents."""
    made = engine.corpora.create("demo", model="m", space="s", dimension=DIMENSION)
    made.upsert(sample_documents(60), sample_vectors(60))
    yield made
    engine.corpora.drop("demo")


def found(corpus: CorpusBackend, **conditions: object) -> list[list[str]]:
    hits = corpus.search(sample_vectors(3, seed=9), k=100, **conditions)  # type: ignore[arg-type]
    return [[hit.id for hit in row] for row in hits]


def test_corpora_are_made_listed_and_dropped(engine: Engine) -> None:
    corpora = engine.corpora
    for name in ("b.c", "b_c", "a-1"):
        corpora.create(name, model="m", space=f"s {name}", dimension=DIMENSION)
    assert [corpus.name for corpus in corpora.list()] == ["a-1", "b.c", "b_c"]
    assert corpora.get("b_c").space == "s b_c"
    with pytest.raises(ConflictError):
        corpora.create("b_c", model="m", space="s", dimension=DIMENSION)
    for name in ("b.c", "b_c", "a-1"):
        corpora.drop(name)
    assert list(corpora.list()) == []
    for refused in (corpora.get, corpora.drop):
        with pytest.raises(NotFoundError) as caught:
            refused("b_c")
        assert caught.value.field == "corpus"


@pytest.mark.parametrize("name", ["../up", "", "A", "a/b", "x" * 65])
def test_names_that_lead_elsewhere_are_refused(engine: Engine, name: str) -> None:
    with pytest.raises(InputError):
        engine.corpora.create(name, model="m", space="s", dimension=DIMENSION)


def test_it_describes_itself(engine: Engine) -> None:
    policy = IndexPolicy("flat")
    metadata: Metadata = {"owner": "ü", "tags": ["a", 1, None]}
    corpus = engine.corpora.create(
        "described",
        model="m",
        space="s",
        dimension=DIMENSION,
        metadata=metadata,
        index=policy,
        identity="0123456789abcdef",
    )
    corpus.upsert(sample_documents(60), sample_vectors(60))
    info = corpus.info()
    assert (info.name, info.model, info.space, info.index) == ("described", "m", "s", "flat")
    assert (info.dimension, info.documents, info.policy) == (DIMENSION, 60, policy)
    assert info.languages == {"de": 15, "en": 15, "fr": 15, "und": 15}
    assert dict(info.metadata) == metadata
    assert info.identity == corpus.identity == "0123456789abcdef"
    assert engine.corpora.get("described").identity == "0123456789abcdef"
    corpus.require_space("s", model="another of the space")
    with pytest.raises(ConflictError, match="space"):
        corpus.require_space("t", model="another")
    engine.corpora.drop("described")


def test_declared_fields_are_kept_to(engine: Engine) -> None:
    corpus = engine.corpora.create(
        "declared", model="m", space="s", dimension=DIMENSION, fields={"year": "integer"}
    )
    corpus.upsert([Document("a", "text", "en", {"year": 1999})], sample_vectors(1))
    for metadata in ({"yaer": 1}, {"year": "1999"}):
        with pytest.raises(InputError, match=r"documents\[0\].metadata"):
            corpus.upsert([Document("b", "text", "en", metadata)], sample_vectors(1))
    with pytest.raises(InputError, match="yaer"):
        found(corpus, filter={"not": {"yaer": 1}})
    with pytest.raises(InputError, match="yaer"):
        corpus.delete_where({"not": {"yaer": 1}})
    assert found(corpus, filter={"year": 1999}) == [["a"]] * 3
    assert corpus.info().fields == engine.corpora.get("declared").fields == {"year": "integer"}
    engine.corpora.drop("declared")


def test_it_counts_its_documents(corpus: CorpusBackend) -> None:
    assert corpus.count() == corpus.info().documents


def test_upserts_insert_and_replace(corpus: CorpusBackend) -> None:
    counts = corpus.upsert(sample_documents(20, start=50), sample_vectors(20))
    assert counts == UpsertCounts(inserted=10, updated=10)
    new = sample_vectors(1, seed=5)
    corpus.upsert([Document("d3", "new text", "ja", {"a": None})], new)
    (hits,) = corpus.search(new, k=1)
    assert (hits[0].id, hits[0].text, hits[0].language) == ("d3", "new text", "ja")
    assert hits[0].metadata == {"a": None}
    assert hits[0].score == pytest.approx(1, abs=1e-5)
    assert found(corpus)[0].count("d3") == 1
    assert corpus.upsert([], sample_vectors(0)) == UpsertCounts(0, 0)


def test_what_cannot_be_stored_leaves_nothing(corpus: CorpusBackend) -> None:
    documents, vectors = sample_documents(2, start=60), sample_vectors(2)
    for bad_documents, bad_vectors in (
        ([*documents, documents[0]], sample_vectors(3)),
        (documents, vectors[:, :-1]),
        (documents, vectors[:1]),
        (documents, np.full_like(vectors, np.nan)),
    ):
        with pytest.raises(InputError):
            corpus.upsert(bad_documents, bad_vectors)
    assert corpus.info().documents == 60


def test_documents_come_back_as_they_were(corpus: CorpusBackend) -> None:
    odd = Document(
        "id \"'\\ ü/../%",
        'line\n"quoted" \\ back 試験',
        None,
        {
            "größe": 1.5,
            "a b.c": ["x", 2, True, None],
            "empty": [],
            "n": None,
            "s": "a\"b\\c'\n\x1f\b",
        },
    )
    corpus.upsert([odd], sample_vectors(1))
    assert corpus.get_document(odd.id) == odd
    assert [d.id for d in corpus.get_documents(["d9", odd.id, "d9"])] == ["d9", odd.id, "d9"]
    assert set(corpus.find(["d1", "nobody", odd.id])) == {"d1", odd.id}
    assert found(corpus, filter={"s": "a\"b\\c'\n\x1f\b"})[0] == [odd.id]
    assert found(corpus, filter={"größe": {"gt": 1}})[0] == [odd.id]
    assert corpus.delete([odd.id]) == 1
    with pytest.raises(NotFoundError) as caught:
        corpus.get_documents(["d1", odd.id])
    assert caught.value.field == "ids"


def test_vectors_come_back_at_length_one(corpus: CorpusBackend) -> None:
    expected = unit_vectors(sample_vectors(60), dimension=DIMENSION)[[7, 3, 7]]
    np.testing.assert_array_equal(corpus.vectors_of(["d7", "d3", "d7"]), expected)
    with pytest.raises(NotFoundError):
        corpus.vectors_of(["nobody"])


@pytest.mark.parametrize("limit", [1, 7, 59, 60, 100])
def test_pages_cover_all_once(corpus: CorpusBackend, limit: int) -> None:
    if limit == 1:
        corpus.delete([f"d{i}" for i in range(5, 60)])
    seen: list[str] = []
    cursor = None
    while True:
        page = corpus.page(cursor, limit=limit)
        assert len(page.documents) <= limit
        seen += [document.id for document in page.documents]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(seen) == sorted(f"d{i}" for i in range(5 if limit == 1 else 60))


def test_pages_go_on_after_any_id(corpus: CorpusBackend) -> None:
    odd = ["C:\\new", "C:\\old\\", 'say "a"', "it's", "\u2028"]
    corpus.delete([f"d{i}" for i in range(60)])
    corpus.upsert([Document(id, "text") for id in odd], sample_vectors(len(odd)))
    seen: list[str] = []
    cursor = None
    while not seen or cursor is not None:
        page = corpus.page(cursor, limit=1)
        seen += [document.id for document in page.documents]
        cursor = page.next_cursor
    assert sorted(seen) == sorted(odd)


def test_pages_can_be_filtered(corpus: CorpusBackend) -> None:
    page = corpus.page(limit=3, language="de", filter={"topic": "art"})
    rest = corpus.page(page.next_cursor, limit=3, language="de", filter={"topic": "art"})
    ids = {document.id for document in (*page.documents, *rest.documents)}
    assert ids == {"d4", "d16", "d28", "d40", "d52"}
    assert rest.next_cursor is None
    with pytest.raises(InputError):
        corpus.page("no cursor")
    with pytest.raises(InputError):
        corpus.page(limit=0)


def test_deletes_count_what_was_there(corpus: CorpusBackend) -> None:
    assert corpus.delete(["d0", "d1", "nobody"]) == 2
    assert corpus.delete(["d0"]) == 0
    assert corpus.delete([]) == 0
    assert not {"d0", "d1"} & set(found(corpus)[0])
    assert corpus.delete_where({"topic": "law", "n": {"lt": 30}}) == 9
    assert corpus.delete_where({"topic": "law", "n": {"lt": 30}}) == 0
    assert len(found(corpus)[0]) == 49
    with pytest.raises(InputError):
        corpus.delete_where({})
    assert corpus.info().documents == 49


def test_hits_are_those_of_brute_force(corpus: CorpusBackend) -> None:
    vectors = unit_vectors(sample_vectors(60), dimension=DIMENSION)
    queries = unit_vectors(sample_vectors(25, seed=3), dimension=DIMENSION)
    for k, lowest, left_out in ((1, None, []), (10, 0.2, ["d1", "d2", "nobody"]), (100, None, [])):
        rows = corpus.search(queries, k=k, min_score=lowest, exclude=[left_out] * 25)
        for query, hits in zip(queries, rows, strict=True):
            scores = {
                f"d{i}": score
                for i, score in enumerate((vectors @ query).tolist())
                if f"d{i}" not in left_out and (lowest is None or score >= lowest)
            }
            best = sorted(scores, key=lambda id: -scores[id])[:k]
            assert [hit.id for hit in hits] == best
            assert [hit.score for hit in hits] == pytest.approx(
                [scores[id] for id in best], abs=1e-5
            )


SCALARS = st.sampled_from(["a", "b", "", 'q"\\', 0, 1, 1.0, 1.5, -2, True, False, None])
NAMES = st.sampled_from(["x", "y.z", "größe"])
METADATA = st.dictionaries(NAMES, SCALARS | st.lists(SCALARS, max_size=3), max_size=3)
RANGES = st.dictionaries(
    st.sampled_from(["gt", "gte", "lt", "lte"]), st.sampled_from([0, 1, 1.5]), min_size=1
) | st.dictionaries(
    st.sampled_from(["gt", "gte", "lt", "lte"]), st.sampled_from(["a", "b"]), min_size=1
)
COMPARISONS = SCALARS | st.fixed_dictionaries({"in": st.lists(SCALARS, max_size=3)})
LEAVES = st.dictionaries(NAMES, COMPARISONS, min_size=1, max_size=2)
FILTERS = st.recursive(
    LEAVES,
    lambda inner: (
        st.fixed_dictionaries({"not": inner})
        | st.fixed_dictionaries({"and": st.lists(inner, min_size=1, max_size=3)})
        | st.fixed_dictionaries({"or": st.lists(inner, min_size=1, max_size=3)})
    ),
    max_leaves=4,
)


def matches(metadata: dict[str, object], filter: dict[str, object]) -> bool:
    """What `service.search.filters` says, in Python."""

    def same(left: object, right: object) -> bool:
        return isinstance(left, bool) == isinstance(right, bool) and left == right

    def comparison(name: str, operand: object) -> bool:
        value = metadata.get(name)
        values = [v for v in (value if isinstance(value, list) else [value]) if v is not None]
        wanted = operand["in"] if isinstance(operand, dict) else [operand]
        return any(
            (w is None and not values) or any(same(v, w) for v in values if w is not None)
            for w in wanted
        )

    def one(name: str, operand: object) -> bool:
        if name == "not":
            assert isinstance(operand, dict)
            return not matches(metadata, operand)
        if name in ("and", "or"):
            assert isinstance(operand, list)
            return (all if name == "and" else any)(matches(metadata, part) for part in operand)
        return comparison(name, operand)

    return all(one(name, operand) for name, operand in filter.items())


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
@given(documents=st.lists(METADATA, min_size=1, max_size=6), filter=FILTERS)
def test_filters_mean_the_same_everywhere(
    corpus: CorpusBackend, documents: list[dict[str, object]], filter: dict[str, object]
) -> None:
    corpus.delete([f"f{i}" for i in range(6)])
    every_field = dict.fromkeys(("x", "y.z", "größe"), "some value")
    corpus.upsert([Document("all", "text", "yy", every_field)], sample_vectors(1))
    corpus.upsert(
        [Document(f"f{i}", "text", "xx", metadata) for i, metadata in enumerate(documents)],  # type: ignore[arg-type]
        sample_vectors(len(documents), seed=8),
    )
    expected = {f"f{i}" for i, metadata in enumerate(documents) if matches(metadata, filter)}
    (hits,) = corpus.search(sample_vectors(1), k=10, languages=["xx"], filter=filter)
    assert {hit.id for hit in hits} == expected


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ({"n": {"gte": 10, "lt": 12.5}}, {"d10", "d11", "d12"}),
        ({"n": {"gt": 57}}, {"d58", "d59"}),
        ({"n": {"lte": 1}, "topic": {"gt": "art", "lte": "law"}}, {"d0"}),
        ({"n": {"gt": "1"}}, set()),
        ({"topic": {"gt": 1}}, set()),
        ({"not": {"n": {"gt": 1}}}, {"d0", "d1"}),
    ],
)
def test_ranges_of_scalars(
    corpus: CorpusBackend, filter: dict[str, object], expected: set[str]
) -> None:
    assert set(found(corpus, filter=filter)[0]) == expected


def test_conditions_combine(corpus: CorpusBackend) -> None:
    (hits, *_) = found(corpus, languages=["de", "en"], filter={"topic": "law", "n": {"lt": 20}})
    expected = {
        f"d{i}"
        for i in range(20)
        if LANGUAGES[i % len(LANGUAGES)] in ("de", "en") and TOPICS[i % len(TOPICS)] == "law"
    }
    assert set(hits) == expected
    refused: tuple[dict[str, object], ...] = (
        {"languages": []},
        {"filter": {"a": [1]}},
        {"filter": {"missing": 1}},
        {"min_score": np.nan},
    )
    for bad in refused:
        with pytest.raises(InputError):
            found(corpus, **bad)
    with pytest.raises(InputError):
        corpus.search(sample_vectors(1), k=0)


def test_a_restart_keeps_all(engine: Engine) -> None:
    corpus = engine.corpora.create(
        "kept", model="m", space="s", dimension=DIMENSION, index=IndexPolicy("ivf", 0.9)
    )
    corpus.upsert(sample_documents(60), sample_vectors(60))
    corpus.delete(["d0"])
    corpus.upsert([Document("d1", "changed")], sample_vectors(1, seed=4))
    before, created = found(corpus), corpus.info().created
    engine.restart()
    again = engine.corpora.get("kept")
    assert found(again) == before
    assert again.get_document("d1").text == "changed"
    info = again.info()
    assert (info.documents, info.created, info.policy) == (59, created, IndexPolicy("ivf", 0.9))
    again.upsert(sample_documents(1), sample_vectors(1))
    assert again.info().documents == 60
    engine.corpora.drop("kept")
    engine.restart()
    assert list(engine.corpora.list()) == []
