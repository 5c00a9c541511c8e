"""Read documents from JSON Lines, and fill a fresh data directory with the demo corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from service.inference.session import Vectors
from service.search.backend import CorporaBackend
from service.search.document import Document
from service.shipped import DEMO_CORPUS

DEMO_NAME = "demo"


def read_documents(path: Path, *, batch: int = 256) -> Iterator[list[Document]]:
    """Yield the documents of a JSON Lines file in lists of at most `batch`.

    Raises:
        MalformedError: A line that is no document, with its number.
    """
    raise NotImplementedError


def load_demo(
    corpora: CorporaBackend,
    encode: Callable[[Sequence[Document]], Vectors],
    *,
    model: str,
    space: str,
    dimension: int,
    path: Path = DEMO_CORPUS,
) -> int:
    """Create the corpus `demo` where the data directory holds no corpus; return its documents.

    0 where there is nothing to do: some corpus is there already, or no demo corpus was shipped.
    """
    raise NotImplementedError
