"""The client, its refusals in our words, and literals of its expressions."""

from __future__ import annotations

import importlib
import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from service.errors import SettingsError, StorageError

Row = Mapping[str, Any]
"""One entity: field -> value."""


def connect(address: str, *, token: str | None = None) -> Any:  # noqa: ANN401 - pymilvus has no usable types
    """Return a client of the engine at `address`, a URL or the path of an embedded one.

    Raises:
        SettingsError: The client is not installed.
        StorageError: Nobody answers there.
    """
    try:
        pymilvus = importlib.import_module("pymilvus")
    except ImportError as error:
        raise SettingsError(
            "Corpora on Milvus need its client.",
            field="vector_engine",
            given=address,
            remedy="pip install 'interlingua[milvus]'",
        ) from error
    # It logs each refusal with a traceback; we raise it.
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
    with engine_errors(address):
        return pymilvus.MilvusClient(address, token=token or "")


@contextmanager
def engine_errors(what: str) -> Iterator[None]:
    """Turn what the client raises about `what` into StorageError."""
    from pymilvus.exceptions import MilvusException

    try:
        yield
    except MilvusException as error:
        raise StorageError(
            f"The vector engine refused ({what}): {error.message}",
            remedy="Check that it runs and has room, and send it again.",
        ) from error


def quoted(value: str) -> str:
    """Return `value` as a string literal of an expression."""
    return json.dumps(value, ensure_ascii=False)


def listed(values: Iterable[str]) -> str:
    """Return `values` as a list literal of an expression."""
    return "[" + ", ".join(map(quoted, values)) + "]"
