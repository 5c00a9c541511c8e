"""The client, its refusals in our words, and literals of its expressions."""

from __future__ import annotations

import functools
import importlib
import inspect
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from service.errors import SettingsError, StorageError
from service.milvus.outage import Outage

CALL_SECONDS = 10.0
"""How long the engine may take for one call before the request is refused."""

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"})
"""All that must be, and that the embedded engine knows: it has none for other characters."""

Row = Mapping[str, Any]
"""One entity: field -> value."""


def connect(address: str, *, token: str | None = None) -> Any:  # noqa: ANN401 - pymilvus has no usable types
    """Return a client of the engine at `address`, a URL or the path of an embedded one.

    Raises:
        SettingsError: The client is not installed.
        StorageError: Nobody answers there.
    """
    pymilvus = require_client(address)
    # It logs each refusal with a traceback; we raise it.
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
    with engine_errors(address):
        return Bounded(pymilvus.MilvusClient(address, token=token or "", timeout=CALL_SECONDS))


def require_client(address: str) -> Any:  # noqa: ANN401 - as above
    """Return the client's package, which the engine at `address` needs.

    Raises:
        SettingsError: It is not installed.
    """
    try:
        return importlib.import_module("pymilvus")
    except ImportError as error:
        raise SettingsError(
            "Corpora on Milvus need its client.",
            field="vector_engine",
            given=address,
            remedy="pip install 'interlingua[milvus]'",
        ) from error


class Bounded:
    """The client, each call bounded: by itself it waits minutes for an engine that is gone.

    Every method takes the collection first.
    """

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - pymilvus has no usable types
        self._client = client
        self._outage = Outage()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as above
        found = getattr(self._client, name)
        if not callable(found) or "timeout" not in inspect.signature(found).parameters:
            return found
        bounded = functools.partial(found, timeout=CALL_SECONDS)
        return functools.partial(self._call, bounded)

    def _call(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as above
        from pymilvus.exceptions import MilvusException

        if not self._outage.admits():
            raise MilvusException(message="it does not answer, and is asked again by another")
        answered = True
        try:
            return self._loaded(call, *args, **kwargs)
        except Exception as error:
            answered = not _unanswered(error)
            raise
        finally:
            self._outage.settle(answered=answered)

    def _loaded(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as above
        from pymilvus.exceptions import MilvusException

        try:
            return call(*args, **kwargs)
        except MilvusException as error:
            if "released" not in error.message or not args:
                raise
            # An engine that was started again may have to be told what it serves.
            self._client.load_collection(args[0], timeout=CALL_SECONDS)
            return call(*args, **kwargs)


def _unanswered(error: Exception) -> bool:
    """Return whether an error of the client's says that nobody answered: its codes are gRPC's."""
    import grpc

    return isinstance(error, grpc.RpcError) or isinstance(
        getattr(error, "code", None), grpc.StatusCode
    )


@contextmanager
def engine_errors(what: str) -> Iterator[None]:
    """Turn what the client raises about `what` into StorageError."""
    import grpc
    from pymilvus.exceptions import MilvusException

    try:
        yield
    except (MilvusException, grpc.RpcError) as error:
        said = error.message if isinstance(error, MilvusException) else str(error)
        raise StorageError(
            f"The vector engine refused ({what}): {said}",
            remedy="Check that it runs and has room, and send it again.",
        ) from error


def quoted(value: str) -> str:
    """Return `value` as a string literal of an expression."""
    return f'"{value.translate(_ESCAPES)}"'


def listed(values: Iterable[str]) -> str:
    """Return `values` as a list literal of an expression."""
    return "[" + ", ".join(map(quoted, values)) + "]"
