"""The demo corpus is encoded anew by other weights, unless somebody has changed it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from service.demo.loader import load_demo
from service.demo.renewal import renew_demo
from service.demo.vectors import write_vectors
from service.errors import ConflictError, NotFoundError
from service.inference.encoder import Encoder
from service.inference.session import Vectors
from service.search.corpora import Corpora, Corpus
from service.search.document import Document
from tests.tiny_bundle import DIMENSION, make_tiny_bundle

TEXTS = ("Fresh bread smells best.", "Die Katze schläft.", "猫は眠っている。")
IDS = [str(number) for number in range(len(TEXTS))]


@pytest.fixture(scope="module")
def retrained(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    """The tiny model with other weights: the same name and space."""
    return Encoder(make_tiny_bundle(tmp_path_factory.mktemp("retrained"), seed=8))


@pytest.fixture(scope="module")
def sibling(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    """Another model of the same space."""
    return Encoder(make_tiny_bundle(tmp_path_factory.mktemp("sibling"), name="sibling", seed=9))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    records = [
        {"id": id, "text": text, "metadata": {"topic": "home"}}
        for id, text in zip(IDS, TEXTS, strict=True)
    ]
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path


@pytest.fixture
def corpora(tmp_path: Path, path: Path, tiny_encoder: Encoder) -> Iterator[Corpora]:
    """The demo corpus, as the tiny model encoded it."""
    opened = Corpora(tmp_path / "corpora")
    assert load_demo(
        opened,
        lambda documents: tiny_encoder.encode([d.text for d in documents]),
        model=tiny_encoder.name,
        space=tiny_encoder.manifest.space,
        dimension=tiny_encoder.dimension,
        identity=tiny_encoder.manifest.identity,
        path=path,
    ) == len(TEXTS)
    yield opened
    opened.close()


def renew(
    corpora: Corpora,
    encoder: Encoder,
    path: Path,
    encode: Callable[[Sequence[str]], Vectors] | None = None,
) -> int:
    return renew_demo(
        corpora, encoder, encode or encoder.encode, path=path, vectors=path.with_name("vectors.npz")
    )


def assert_made_by(encoder: Encoder, corpus: Corpus) -> None:
    info = corpus.info()
    assert (info.model, info.identity) == (encoder.name, encoder.manifest.identity)
    stored = corpus.vectors_of(IDS)
    np.testing.assert_allclose(stored, encoder.encode(TEXTS), atol=0.01)


def no_encoding(texts: Sequence[str]) -> Vectors:
    raise AssertionError(f"nothing is to be encoded, and {len(texts)} texts were")


def test_it_gets_the_vectors_of_other_weights_for_good(
    corpora: Corpora, path: Path, tiny_encoder: Encoder, retrained: Encoder
) -> None:
    assert_made_by(tiny_encoder, corpora.get("demo"))
    before = corpora.get("demo").page()
    assert renew(corpora, retrained, path) == len(TEXTS)
    assert_made_by(retrained, corpora.get("demo"))
    assert corpora.get("demo").page().documents == before.documents
    corpora.close()
    again = Corpora(corpora.directory)
    assert_made_by(retrained, again.get("demo"))
    assert renew(again, retrained, path, no_encoding) == 0
    again.close()


def test_the_same_weights_leave_it_alone(
    corpora: Corpora, path: Path, tiny_encoder: Encoder
) -> None:
    demo = corpora.get("demo")
    assert renew(corpora, tiny_encoder, path, no_encoding) == 0
    assert corpora.get("demo") is demo


def test_vectors_made_beforehand_are_taken(
    corpora: Corpora, path: Path, retrained: Encoder
) -> None:
    write_vectors(retrained, path=path.with_name("vectors.npz"), corpus=path)
    assert renew(corpora, retrained, path, no_encoding) == len(TEXTS)
    assert_made_by(retrained, corpora.get("demo"))


def test_another_model_of_the_space_takes_it_over_where_that_costs_nothing(
    corpora: Corpora, path: Path, tiny_encoder: Encoder, sibling: Encoder
) -> None:
    assert renew(corpora, sibling, path, no_encoding) == 0
    assert_made_by(tiny_encoder, corpora.get("demo"))
    write_vectors(sibling, path=path.with_name("vectors.npz"), corpus=path)
    assert renew(corpora, sibling, path, no_encoding) == len(TEXTS)
    assert_made_by(sibling, corpora.get("demo"))


@pytest.mark.parametrize(
    "change",
    [
        lambda demo: demo.delete(["1"]),
        lambda demo: demo.upsert([Document("mine", "My own.")], np.eye(1, DIMENSION, dtype="f4")),
        lambda demo: demo.upsert(
            [Document("1", "Der Hund schläft.", metadata={"topic": "home"})],
            np.eye(1, DIMENSION, dtype="f4"),
        ),
        lambda demo: demo.upsert(
            [Document("1", TEXTS[1], metadata={"topic": "cats"})],
            np.eye(1, DIMENSION, dtype="f4"),
        ),
    ],
    ids=["deleted", "added", "text", "metadata"],
)
def test_what_somebody_changed_is_left_as_it_is(
    corpora: Corpora, path: Path, retrained: Encoder, change: Callable[[Corpus], object]
) -> None:
    demo = corpora.get("demo")
    change(demo)
    ids = sorted(demo.ids())
    documents, vectors = demo.get_documents(ids), demo.vectors_of(ids)
    assert renew(corpora, retrained, path) == 0
    assert corpora.get("demo") is demo
    assert demo.get_documents(ids) == documents
    np.testing.assert_array_equal(demo.vectors_of(ids), vectors)


def test_what_somebody_writes_meanwhile_is_kept(
    corpora: Corpora, path: Path, retrained: Encoder
) -> None:
    write_vectors(retrained, path=path.with_name("vectors.npz"), corpus=path)
    mine = Document("mine", "Rivers carry sand.")
    look = Corpus.page

    def write_after_the_look(corpus: Corpus, *args: object, **options: object) -> object:
        page = look(corpus, *args, **options)  # type: ignore[arg-type]
        corpus.upsert([mine], np.eye(1, DIMENSION, dtype=np.float32))
        return page

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Corpus, "page", write_after_the_look)
        assert renew(corpora, retrained, path) == len(TEXTS) + 1
    demo = corpora.get("demo")
    assert demo.get_document("mine") == mine
    assert demo.ids() == {*IDS, "mine"}
    assert_made_by(retrained, demo)
    np.testing.assert_allclose(demo.vectors_of(["mine"]), retrained.encode([mine.text]), atol=1e-5)


def test_its_width_stays(corpora: Corpora, path: Path, retrained: Encoder) -> None:
    demo = corpora.get("demo")
    documents, vectors = list(demo.page().documents), demo.vectors_of(IDS)[:, :8]
    corpora.drop("demo")
    short = corpora.create("demo", model="tiny", space="tiny-space", dimension=8)
    short.upsert(documents, vectors)
    assert renew(corpora, retrained, path) == len(TEXTS)
    np.testing.assert_allclose(
        corpora.get("demo").vectors_of(IDS), retrained.encode(TEXTS, dimensions=8), atol=1e-5
    )


def test_what_another_process_encodes_anew_is_refused(
    corpora: Corpora, path: Path, retrained: Encoder
) -> None:
    other = Corpora(corpora.directory)
    demo = other.get("demo")
    with (
        other.successor(demo, model="tiny", space="tiny-space", dimension=DIMENSION),
        pytest.raises(ConflictError),
    ):
        renew(corpora, retrained, path)
    other.close()
    corpora.drop("demo")
    with pytest.raises(NotFoundError):
        renew(corpora, retrained, path)


def test_no_demo_shipped_is_no_error(corpora: Corpora, tmp_path: Path, retrained: Encoder) -> None:
    assert renew(corpora, retrained, tmp_path / "nothing.jsonl", no_encoding) == 0
