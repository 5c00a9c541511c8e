"""Read documents from JSON Lines, and fill a fresh data directory with the demo corpus."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import orjson

from service.errors import ConflictError, MalformedError, NotFoundError, StorageError
from service.inference.session import Vectors
from service.search.backend import CorporaBackend, CorpusBackend
from service.search.document import Document, document_from_json
from service.shipped import DEMO_CORPUS

DEMO_NAME = "demo"

WAITS_SECONDS = (0.5, 1.0, 2.0)
"""Before each further try: replicas that start at once over one engine all find no corpus."""

_log = logging.getLogger(__name__)


def read_documents(path: Path, *, batch: int = 256) -> Iterator[list[Document]]:
    """Yield the documents of a JSON Lines file in lists of at most `batch`; skip blank lines.

    Raises:
        InputError: A line that is no document; the field begins with the line's number.
    """
    documents: list[Document] = []
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            documents.append(_document(line, f"{path.name}:{number}"))
            if len(documents) == batch:
                yield documents
                documents = []
    if documents:
        yield documents


def load_demo(
    corpora: CorporaBackend,
    encode: Callable[[Sequence[Document]], Vectors],
    *,
    model: str,
    space: str,
    dimension: int,
    identity: str | None = None,
    path: Path = DEMO_CORPUS,
) -> int:
    """Create the corpus `demo` in a data directory that holds none, and return its documents.

    All are written in one step, so a start that breaks off leaves an empty corpus, which the next
    start fills.

    Args:
        corpora: Where it is made.
        encode: All documents -> float32 [documents, dimension].
        model: Name of the encoder.
        space: Its vector space.
        dimension: Its vectors' width.
        identity: Of its weights.
        path: The documents, as JSON Lines.

    Returns:
        0 where there is nothing to do: a corpus is there already, or no demo corpus was shipped.
    """
    if not path.exists():
        return 0

    def fill() -> int:
        corpus = _empty_demo(
            corpora, model=model, space=space, dimension=dimension, identity=identity
        )
        if corpus is None:
            return 0
        documents = [document for batch in read_documents(path) for document in batch]
        corpus.upsert(documents, encode(documents))
        return len(documents)

    for wait in WAITS_SECONDS:
        try:
            return fill()
        except (ConflictError, StorageError) as error:
            _log.info("asking again for the demo corpus, which another may be making: %s", error)
            time.sleep(wait)
    return fill()


def _empty_demo(
    corpora: CorporaBackend, *, model: str, space: str, dimension: int, identity: str | None
) -> CorpusBackend | None:
    there = corpora.list()
    try:
        demo = corpora.get(DEMO_NAME)
    except NotFoundError:
        if there:
            return None
        return corpora.create(
            DEMO_NAME, model=model, space=space, dimension=dimension, identity=identity
        )
    except StorageError as error:
        _log.warning("The demo corpus is left as it is: %s", error)
        return None
    fits = demo.space == space and demo.dimension == dimension
    return demo if fits and not demo.count() else None


def _document(line: bytes, place: str) -> Document:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise MalformedError(f"This line is no JSON: {error}.", field=place) from None
    return document_from_json(record, field=place)
