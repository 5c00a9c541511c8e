from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from service.demo import loader
from service.demo.loader import load_demo, read_documents
from service.errors import InputError, MalformedError, StorageError
from service.inference.session import Vectors
from service.search.corpora import Corpora
from service.search.corpus import STORE_FILE, Corpus
from service.search.document import Document
from service.shipped import DEMO_CORPUS

COUNT = 600


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Documents in two languages, with blank lines between them."""
    path = tmp_path / "corpus.jsonl"
    lines = [
        json.dumps(
            {
                "id": f"d{i}",
                "text": f"текст {i}",
                "language": "ru" if i % 2 else "en",
                "metadata": {"topic": "law", "statement": f"law-{i // 2}"},
            },
            ensure_ascii=bool(i % 3),
        )
        for i in range(COUNT)
    ]
    path.write_text("\n\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def corpora(tmp_path: Path) -> Iterator[Corpora]:
    opened = Corpora(tmp_path / "corpora")
    yield opened
    opened.close()


def encode(documents: Sequence[Document]) -> Vectors:
    random = np.random.default_rng(len(documents))
    return random.standard_normal((len(documents), 4)).astype(np.float32)


def load(corpora: Corpora, path: Path) -> int:
    return load_demo(corpora, encode, model="m", space="s", dimension=4, path=path)


def test_documents_come_in_batches_and_in_order(path: Path) -> None:
    batches = list(read_documents(path, batch=250))
    assert [len(batch) for batch in batches] == [250, 250, 100]
    documents = [document for batch in batches for document in batch]
    assert [document.id for document in documents] == [f"d{i}" for i in range(COUNT)]
    assert documents[1] == Document("d1", "текст 1", "ru", {"topic": "law", "statement": "law-0"})


@pytest.mark.parametrize("line", ["{", '{"id": "x"}', '"text"', '{"id": "x", "text": "\\ud800"}'])
def test_bad_line_is_named(path: Path, line: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + "\n" + line, encoding="utf-8")
    with pytest.raises(MalformedError) as caught:
        list(read_documents(path))
    assert caught.value.field is not None
    assert caught.value.field.startswith(f"corpus.jsonl:{2 * COUNT}")


def test_fresh_directory_gets_the_demo(corpora: Corpora, path: Path) -> None:
    assert load(corpora, path) == COUNT
    info = corpora.get("demo").info()
    assert (info.documents, info.languages) == (COUNT, {"en": COUNT // 2, "ru": COUNT // 2})
    assert load(corpora, path) == 0


def test_directory_with_corpora_is_left_as_it_is(corpora: Corpora, path: Path) -> None:
    corpora.create("mine", model="m", space="s", dimension=4)
    assert load(corpora, path) == 0
    assert [corpus.name for corpus in corpora.list()] == ["mine"]


def test_demo_that_broke_off_is_filled_at_the_next_start(corpora: Corpora, path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole + b"\n{")
    with pytest.raises(InputError):
        load(corpora, path)
    assert corpora.get("demo").info().documents == 0
    path.write_bytes(whole)
    assert load(corpora, path) == COUNT


def test_demo_of_another_space_is_left_as_it_is(corpora: Corpora, path: Path) -> None:
    corpora.create("demo", model="m", space="other", dimension=4)
    assert load(corpora, path) == 0


def test_damaged_demo_does_not_stop_the_start(corpora: Corpora, path: Path) -> None:
    load(corpora, path)
    corpora.close()
    (corpora.directory / "demo" / STORE_FILE).write_bytes(b"no database " * 1000)
    opened = Corpora(corpora.directory)
    assert load(opened, path) == 0
    opened.close()


class Contended(Corpora):
    """An engine where others make the demo at the same moment, so that ours fails at first."""

    failures = 0

    def create(self, name: str, **how: object) -> Corpus:
        if self.failures:
            self.failures -= 1
            raise StorageError("it is being made")
        return super().create(name, **how)  # type: ignore[arg-type]


@pytest.mark.parametrize(("failures", "loads"), [(1, True), (3, True), (4, False)])
def test_replicas_that_start_at_once_try_again(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch, failures: int, loads: bool
) -> None:
    monkeypatch.setattr(loader, "WAITS_SECONDS", (0.0, 0.0, 0.0))
    engine = Contended(tmp_path / "contended")
    engine.failures = failures
    if loads:
        assert load(engine, path) == COUNT
    else:
        with pytest.raises(StorageError):
            load(engine, path)
    engine.close()


def test_no_demo_shipped_is_no_error(corpora: Corpora, tmp_path: Path) -> None:
    assert load(corpora, tmp_path / "nothing.jsonl") == 0
    assert corpora.list() == ()


@pytest.mark.skipif(not DEMO_CORPUS.exists(), reason="the demo corpus is not written yet")
def test_shipped_demo_is_whole() -> None:
    documents = [document for batch in read_documents(DEMO_CORPUS) for document in batch]
    assert len({document.id for document in documents}) == len(documents)
    statements: dict[object, set[str | None]] = {}
    for document in documents:
        assert document.metadata["topic"]
        statements.setdefault(document.metadata["statement"], set()).add(document.language)
    assert len(statements) >= 240
    assert min(map(len, statements.values())) >= 8
    assert all(None not in languages for languages in statements.values())
