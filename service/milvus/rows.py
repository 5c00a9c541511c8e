"""Documents as entities of a collection, and collections as they are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from service.errors import InputError, TooLargeError
from service.inference.session import Vectors
from service.milvus.client import Row
from service.milvus.expressions import facets_of
from service.search.document import Document, Hit
from service.search.policy import IndexPolicy

MAX_BYTES = 65_535
"""Of one string: Milvus' limit."""

MAX_FACETS = 4_096
"""Of one array: Milvus' limit."""

FIELDS = ["id", "text", "language", "metadata"]

CLUSTERS = 1_024
"""Of each segment, which Milvus keeps to about a gigabyte."""


def rows_of(documents: Sequence[Document], vectors: Vectors) -> list[dict[str, Any]]:
    """Return one entity a document.

    Raises:
        TooLargeError: A text longer, or metadata of more values, than the engine takes.
    """
    rows = []
    for position, (document, vector) in enumerate(zip(documents, vectors, strict=True)):
        facets = facets_of(document.metadata)
        place = f"documents[{position}]"
        if len(document.text.encode()) > MAX_BYTES:
            raise TooLargeError(
                f"A text has at most {MAX_BYTES} bytes on this vector engine.",
                field=f"{place}.text",
                given=document.id,
                remedy="Split it into several documents.",
            )
        if len(facets) > MAX_FACETS or any(len(f.encode()) > MAX_BYTES for f in facets):
            raise TooLargeError(
                f"Metadata has at most {MAX_FACETS} values of {MAX_BYTES} bytes on this vector "
                "engine.",
                field=f"{place}.metadata",
                given=document.id,
            )
        rows.append(
            {
                "id": document.id,
                "text": document.text,
                "language": document.language or "",
                "metadata": dict(document.metadata),
                "facets": facets,
                "vector": vector,
            }
        )
    return rows


def document_of(row: Row) -> Document:
    """Return the document that an entity holds."""
    return Document(row["id"], row["text"], row["language"] or None, dict(row["metadata"]))


def hit_of(row: Row, score: float) -> Hit:
    """Return an entity as a hit."""
    cosine = float(np.clip(score, -1, 1))
    return Hit(row["id"], row["text"], row["language"] or None, cosine, dict(row["metadata"]))


def make_schema(client: Any, dimension: int) -> Any:  # noqa: ANN401 - pymilvus has no usable types
    """Return the schema of a collection of documents."""
    from pymilvus import DataType

    if not 2 <= dimension <= 32_768:
        raise InputError(
            "Vectors have 2 to 32768 numbers on this vector engine.",
            field="dimensions",
            given=dimension,
        )
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=1_024)
    schema.add_field("text", DataType.VARCHAR, max_length=MAX_BYTES)
    schema.add_field("language", DataType.VARCHAR, max_length=16)
    schema.add_field("metadata", DataType.JSON)
    schema.add_field(
        "facets",
        DataType.ARRAY,
        element_type=DataType.VARCHAR,
        max_capacity=MAX_FACETS,
        max_length=MAX_BYTES,
    )
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
    return schema


def make_indexes(client: Any, policy: IndexPolicy, *, embedded: bool) -> Any:  # noqa: ANN401 - as above
    """Return what is indexed: vectors as `policy` says, facets and languages by value.

    Clusters where the policy leaves the choice: Milvus' own choice is a graph, which finds too few
    neighbours among encodings of many languages (`service.search.clusters`).
    """
    indexes = client.prepare_index_params()
    if policy.kind == "flat":
        indexes.add_index("vector", index_type="FLAT", metric_type="IP")
    else:
        indexes.add_index(
            "vector", index_type="IVF_SQ8", metric_type="IP", params={"nlist": CLUSTERS}
        )
    if not embedded:  # the embedded engine compares all rows, and takes no such index
        indexes.add_index("facets", index_type="INVERTED")
        indexes.add_index("language", index_type="INVERTED")
    return indexes


def search_parameters(policy: IndexPolicy) -> dict[str, Any]:
    """Return what a search asks of the index.

    A quarter of the clusters finds 0.98 of the true ten nearest, as measured on the built-in index.
    """
    if policy.kind == "flat":
        return {"metric_type": "IP", "params": {}}
    share = 0.25 if policy.recall <= 0.98 else 1.0
    return {"metric_type": "IP", "params": {"nprobe": int(CLUSTERS * share)}}
