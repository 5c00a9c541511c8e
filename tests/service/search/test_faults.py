"""What goes wrong around a corpus: each is a clear error, and what was acknowledged stays."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from service.errors import InputError, NotFoundError, StorageError
from service.inference.session import Vectors
from service.search.corpora import Corpora, Corpus
from service.search.corpus import STORE_FILE
from service.search.document import Document
from service.search.filters import fields_of
from tests.service.search.samples import DIMENSION, make_corpus, sample_documents, sample_vectors


def assert_whole(corpus: Corpus, count: int = 60) -> None:
    """Check that all sample documents are there, by id and by search."""
    assert corpus.info().documents == count
    assert corpus.get_documents([d.id for d in sample_documents(60)]) == sample_documents(60)
    (hits,) = corpus.search(sample_vectors(1), k=1000)
    assert len(hits) == count


def reopened(corpora: Corpora) -> Corpora:
    corpora.close()
    return Corpora(corpora.directory)


@pytest.mark.parametrize(
    ("documents", "vectors", "field"),
    [
        ([Document("a", "1"), Document("a", "2")], sample_vectors(2), r"documents\[1\].id"),
        ([Document("a", "1")], sample_vectors(1, dimension=7), "vectors"),
        ([Document("a", "1")], sample_vectors(2), "vectors"),
        ([Document("a", "1")], np.full((1, DIMENSION), np.nan, np.float32), r"vectors\[0\]"),
        ([Document("a", "1"), Document("b", "2")],
         np.array([[1.0] * DIMENSION, [np.inf] * DIMENSION], np.float32), r"vectors\[1\]"),
    ],
)  # fmt: skip
def test_what_cannot_be_stored_is_refused_whole(
    corpora: Corpora, corpus: Corpus, documents: list[Document], vectors: Vectors, field: str
) -> None:
    with pytest.raises(InputError, match=field):
        corpus.upsert(documents, vectors)
    assert_whole(corpus)
    again = reopened(corpora)
    assert_whole(again.get("demo"))
    again.close()


@pytest.mark.parametrize(
    "vector",
    [sample_vectors(1, dimension=7), np.full((1, DIMENSION), np.nan, np.float32)],
)
def test_what_cannot_be_looked_for_is_refused(corpus: Corpus, vector: Vectors) -> None:
    with pytest.raises(InputError, match="vectors"):
        corpus.search(vector, k=3)


@pytest.mark.parametrize("name", ["../demo", "..", ".", "/etc", "a/b", "a\\b", ".hidden", "", "A",
                                  "a\0b", "x" * 65, ".switch-demo"])  # fmt: skip
def test_no_name_leads_out_of_the_directory(corpora: Corpora, corpus: Corpus, name: str) -> None:
    before = sorted(corpora.directory.parent.rglob("*"))
    with pytest.raises(InputError, match="name"):
        corpora.create(name, model="m", space="s", dimension=DIMENSION)
    with pytest.raises(NotFoundError):
        corpora.get(name)
    with pytest.raises(NotFoundError):
        corpora.drop(name)
    assert sorted(corpora.directory.parent.rglob("*")) == before
    assert_whole(corpus)


def test_an_unknown_corpus_is_named_with_those_there_are(corpora: Corpora, corpus: Corpus) -> None:
    with pytest.raises(NotFoundError, match="There are: demo"):
        corpora.get("nope")


MISSING = [
    {"tpoic": "law"},
    {"tpoic": {"in": ["law"]}},
    {"and": [{"topic": "law"}, {"tpoic": "law"}]},
    {"or": [{"tpoic": "law"}]},
    {"year": {"gte": 1}},
]


@pytest.mark.parametrize("filter", MISSING)
def test_a_filter_on_a_field_that_no_document_has_is_an_error(
    corpus: Corpus, filter: dict[str, object]
) -> None:
    calls: list[Callable[[], object]] = [
        lambda: corpus.search(sample_vectors(1), k=3, filter=filter),
        lambda: corpus.page(filter=filter),
        lambda: corpus.delete_where(filter),
    ]
    for call in calls:
        with pytest.raises(InputError, match=r"tpoic|year"):
            call()
    assert_whole(corpus)


def test_a_misspelt_exception_does_not_delete_everything(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="tpoic"):
        corpus.delete_where({"not": {"tpoic": "law"}})
    assert_whole(corpus)


def test_a_field_may_be_missing_where_that_is_what_is_looked_for(
    corpora: Corpora, corpus: Corpus
) -> None:
    (hits,) = corpus.search(sample_vectors(1), k=100, filter={"nope": None})
    assert len(hits) == 60
    (hits,) = corpus.search(sample_vectors(1), k=100, filter={"topic": "no such"})
    assert hits == [], "a value that no document has is no error"
    empty = make_corpus(corpora, "empty")
    assert empty.search(sample_vectors(1), k=3, filter={"nope": 1}) == [[]]
    assert empty.delete_where({"nope": 1}) == 0


def test_the_fields_of_a_filter() -> None:
    filter = {"a": 1, "or": [{"b": {"gt": 1}}, {"not": {"c": "x"}}], "d": None}
    assert fields_of(filter) == {"a", "b", "c"}


FILL = """
import sys
from pathlib import Path
import numpy as np
from service.errors import StorageError
from service.search.corpora import Corpora
from service.search.document import Document

corpora = Corpora(Path(sys.argv[1]))
corpus = corpora.get("demo")
number = 0
try:
    while True:
        vectors = np.random.default_rng(number).standard_normal((50, 8)).astype(np.float32)
        corpus.upsert([Document(f"{number}-{i}", "x" * 2000) for i in range(50)], vectors)
        number += 1
        print(number, flush=True)
except StorageError as error:
    print("refused:", error, flush=True)
(hits,) = corpus.search(np.ones((1, 8), np.float32), k=10_000)
print(len(hits), flush=True)
corpora.close()
"""


def _no_larger_files() -> None:
    """A file that may not grow is what a full disk looks like to who writes it."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))


def test_a_full_disk_refuses_and_loses_nothing(corpora: Corpora, corpus: Corpus) -> None:
    corpora.close()
    done = subprocess.run(
        [sys.executable, "-c", FILL, str(corpora.directory)],
        preexec_fn=_no_larger_files, capture_output=True, text=True, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    *acknowledged, refused, found = done.stdout.splitlines()
    assert acknowledged, done.stderr
    assert refused.startswith("refused:"), done.stdout
    assert "cannot be used" in refused
    assert "Free some space" in refused or "Check the disk" in refused
    batches = int(acknowledged[-1])
    assert int(found) == 60 + 50 * batches, "searches go on with what was acknowledged"
    again = Corpora(corpora.directory)
    assert again.damaged == {}
    assert_whole(again.get("demo"), 60 + 50 * batches)
    again.get("demo").upsert([Document("more", "space again")], sample_vectors(1))
    again.close()


@pytest.fixture
def read_only() -> Iterator[Path]:
    # Not below tmp_path, which pytest closes to other users: to root nothing is read-only.
    with tempfile.TemporaryDirectory() as parent:
        Path(parent).chmod(0o755)
        corpora = Corpora(Path(parent) / "corpora")
        make_corpus(corpora, documents=60)
        corpora.close()
        _set_rights(corpora.directory, 0o555, 0o444)
        yield corpora.directory
        _set_rights(corpora.directory, 0o755, 0o644)


def _set_rights(directory: Path, folders: int, files: int) -> None:
    directory.chmod(0o755)
    for path in (*(directory / "demo").iterdir(), directory / "demo", directory):
        path.chmod(folders if path.is_dir() else files)


READ_ONLY = """
import os, sys
from pathlib import Path
from service.errors import StorageError
from service.search.corpora import Corpora
from tests.service.search.samples import sample_documents, sample_vectors

if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)  # to root nothing is read-only
corpora = Corpora(Path(sys.argv[1]))

try:
    corpora.get("demo").upsert(sample_documents(1), sample_vectors(1))
except StorageError as error:
    print("upsert:", error)
try:
    corpora.create("new", model="m", space="s", dimension=8)
except StorageError as error:
    print("create:", error)
"""


def test_a_read_only_directory_is_said_and_loses_nothing(read_only: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY, str(read_only)],
        capture_output=True, text=True, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert set(said) == {"upsert", "create"}, done.stdout
    for message in said.values():
        assert "rights" in message or "right to write" in message, message
    _set_rights(read_only, 0o755, 0o644)
    again = Corpora(read_only)
    assert_whole(again.get("demo"))
    again.close()


@pytest.mark.parametrize("damage", ["cut", "overwritten", "empty", "not a database", "missing"])
def test_a_damaged_database_is_named_and_the_others_open(
    corpora: Corpora, corpus: Corpus, damage: str
) -> None:
    make_corpus(corpora, "whole", documents=60)
    corpora.close()
    path = corpora.directory / "demo" / STORE_FILE
    content = path.read_bytes()
    damaged = {
        "cut": content[: len(content) // 3],
        "overwritten": content[:100] + b"\xff" * 20_000 + content[20_100:],
        "empty": b"",
        "not a database": b"plain text, as an editor leaves it\n" * 100,
    }
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(damaged[damage])
    again = Corpora(corpora.directory)
    try:
        assert_whole(again.get("whole"))
        with pytest.raises((StorageError, NotFoundError)) as refused:
            again.get("demo").search(sample_vectors(1), k=3, filter={"topic": "law"})
        assert "demo" in str(refused.value)
        assert refused.value.remedy
    finally:
        again.close()
    if damage != "missing":
        assert path.read_bytes() == damaged[damage], "what may be restored by hand is left alone"


def test_a_lost_or_damaged_index_is_built_again(corpora: Corpora, corpus: Corpus) -> None:
    corpora.close()
    files = [p for p in (corpora.directory / "demo").iterdir() if p.name.startswith("index.faiss")]
    assert files
    for content in (None, b"", b"\0" * 1000):
        for path in files:
            if content is None:
                path.unlink()
            else:
                path.write_bytes(content)
        again = Corpora(corpora.directory)
        assert_whole(again.get("demo"))
        again.close()
