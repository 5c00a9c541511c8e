"""All corpora of one engine: a collection each, and one that says what they are.

A corpus is there from the moment its row is in the registry: the collection is made before and
dropped after, so a break leaves at most a collection that no row names, which the next creation of
that name clears away when nobody has named it for a while.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from service.errors import InputError, NotFoundError, unknown_name
from service.milvus.client import Row, connect, engine_errors, quoted
from service.milvus.corpus import MilvusCorpus, MilvusHeader
from service.milvus.rows import make_indexes, make_schema
from service.search.checks import check_new_name
from service.search.document import Metadata, check_corpus_name, check_metadata
from service.search.fields import FieldTypes, check_types
from service.search.passages import PassagePolicy
from service.search.policy import IndexPolicy

PREFIX = "interlingua_"
REGISTRY = "interlingua__registry"
"""No corpus' collection has two underscores in a row: see `collection_name`."""

MAX_CORPORA = 16_384

MAKING_SECONDS = 10.0
"""A collection that no row names is another service's, which is about to write it, for so long."""


class MilvusCorpora:
    """Every corpus that the engine at `address` holds.

    Args:
        address: `http://host:19530`, or a path ending in `.db` for the embedded engine.
        token: `user:password` or a key, where the engine asks for one.

    Raises:
        SettingsError: Its client is not installed.
        StorageError: It does not answer.
    """

    def __init__(self, address: str, *, token: str | None = None) -> None:
        self._client = connect(address, token=token)
        self._lock = threading.Lock()
        with engine_errors(address):
            # Its own server has an address too, and takes what the embedded one takes.
            self._embedded = "lite" in self._client.get_server_version()
            if not self._client.has_collection(REGISTRY):
                self._make_registry()
            for row in self._rows():
                self._client.load_collection(row["header"]["collection"])
            self._client.load_collection(REGISTRY)

    def create(
        self,
        name: str,
        *,
        model: str,
        space: str,
        dimension: int,
        metadata: Metadata | None = None,
        passages: PassagePolicy | None = None,
        index: IndexPolicy | None = None,
        fields: FieldTypes | None = None,
        identity: str | None = None,
    ) -> MilvusCorpus:
        """Make an empty corpus.

        Raises:
            InputError: A name, metadata or passages that cannot be used.
            ConflictError: One of that name is there.
            StorageError: The engine refused.
        """
        check_corpus_name(name)
        check_metadata(metadata or {})
        if passages is not None:
            raise InputError(
                "This vector engine keeps one vector a document.",
                field="passages",
                remedy="Leave it out, or send passages as documents of their own.",
            )
        header = MilvusHeader(
            name,
            collection_name(name),
            model,
            space,
            dimension,
            metadata or {},
            datetime.now(UTC),
            index or IndexPolicy(),
            None if fields is None else check_types(fields),
            identity,
        )
        with self._lock, engine_errors(name):
            if self._is_left_over(name, header.collection):
                self._client.drop_collection(header.collection)
            self._client.create_collection(
                header.collection,
                schema=make_schema(self._client, dimension),
                index_params=make_indexes(self._client, header.policy, embedded=self._embedded),
                consistency_level="Strong",
            )
            self._client.upsert(REGISTRY, [_row_of(header)])
        return MilvusCorpus(self._client, header)

    def get(self, name: str) -> MilvusCorpus:
        """Return a corpus, or raise NotFoundError."""
        with engine_errors(name):
            rows = self._rows(name)
        if not rows:
            raise self._unknown(name)
        return MilvusCorpus(self._client, _header_of(rows[0]))

    def list(self) -> tuple[MilvusCorpus, ...]:
        """Return every corpus, by name."""
        with engine_errors("list of corpora"):
            rows = sorted(self._rows(), key=lambda row: str(row["name"]))
        return tuple(MilvusCorpus(self._client, _header_of(row)) for row in rows)

    def drop(self, name: str) -> None:
        """Delete a corpus and all that is in it, or raise NotFoundError."""
        corpus = self.get(name)
        with self._lock, engine_errors(name):
            self._client.delete(REGISTRY, filter=f"name == {quoted(corpus.name)}")
            self._client.drop_collection(collection_name(name))

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def _rows(self, name: str | None = None) -> Sequence[Row]:
        rows: Sequence[Row] = self._client.query(
            REGISTRY,
            filter='name != ""' if name is None else f"name == {quoted(name)}",
            output_fields=["name", "header"],
            limit=MAX_CORPORA,
            consistency_level="Strong",
        )
        return rows

    def _is_left_over(self, name: str, collection: str) -> bool:
        """Return whether a break left this collection, which no corpus has.

        One that another service may be making is waited for, and only what was seen may be
        dropped: it may be made between the look and the drop.

        Raises:
            ConflictError: The corpus is there.
        """
        until = time.monotonic() + MAKING_SECONDS
        while True:
            check_new_name(name, taken=bool(self._rows(name)))
            if not self._client.has_collection(collection):
                return False
            if time.monotonic() > until:
                return True
            time.sleep(0.1)

    def _make_registry(self) -> None:
        from pymilvus import DataType

        schema = self._client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("name", DataType.VARCHAR, is_primary=True, max_length=64)
        schema.add_field("header", DataType.JSON)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=2)  # each collection must have one
        indexes = self._client.prepare_index_params()
        indexes.add_index("vector", index_type="FLAT", metric_type="IP")
        self._client.create_collection(
            REGISTRY, schema=schema, index_params=indexes, consistency_level="Strong"
        )

    def _unknown(self, name: str) -> NotFoundError:
        known = (corpus.name for corpus in self.list())
        return unknown_name("corpus", name, known, nothing="none yet")


def collection_name(corpus: str) -> str:
    """Return the collection of a corpus: letters and digits stay, the rest is written in hex."""
    return PREFIX + re.sub(r"[^a-z0-9]", lambda match: f"_{ord(match[0]):02x}", corpus)


def _row_of(header: MilvusHeader) -> dict[str, Any]:
    return {
        "name": header.name,
        "header": {
            "collection": header.collection,
            "model": header.model,
            "space": header.space,
            "dimension": header.dimension,
            "metadata": dict(header.metadata),
            "created": header.created.isoformat(),
            "index": header.policy.kind,
            "recall": header.policy.recall,
            "fields": None if header.fields is None else dict(header.fields),
            "identity": header.identity,
        },
        "vector": [0.0, 0.0],
    }


def _header_of(row: Row) -> MilvusHeader:
    header = row["header"]
    return MilvusHeader(
        row["name"],
        header["collection"],
        header["model"],
        header["space"],
        header["dimension"],
        header["metadata"],
        datetime.fromisoformat(header["created"]),
        IndexPolicy(header["index"], header["recall"]),
        header.get("fields"),
        header.get("identity"),
    )
