"""Documents on their way in: some bring a vector along, the others are to be encoded."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from service.errors import InputError, MalformedError
from service.inference.session import Vectors
from service.inference.vectors import finish
from service.search.document import Document, document_from_json
from service.search.fields import FieldTypes, check_declared
from service.search.passages import PassagePolicy, passage_texts, vector_counts

VECTOR_FIELD = "vector"


@dataclass(frozen=True, slots=True)
class Incoming:
    """A document, and the vector it brings along.

    Attributes:
        document: Whole; a batch splits it.
        vector: float32 [dimension] of the corpus' space, or None where it is to be encoded.
    """

    document: Document
    vector: Vectors | None = None


def incoming_from_json(
    record: object, *, dimension: int, fields: FieldTypes | None = None, field: str = "document"
) -> Incoming:
    """Return what a parsed JSON value describes: a document, maybe with `vector`.

    Args:
        record: As for `document_from_json`; `vector` is a list of numbers, or base64 of
            little-endian float32, as /v1/embeddings gives it.
        dimension: Width of the corpus' vectors.
        fields: The metadata fields that the corpus declares; None where it takes any.
        field: Where it stood, for error messages.

    Raises:
        InputError: The field at fault is named below `field`.
    """
    vector = None
    if isinstance(record, dict) and VECTOR_FIELD in record:
        given = record[VECTOR_FIELD]
        record = {name: value for name, value in record.items() if name != VECTOR_FIELD}
        if given is not None:
            vector = _vector(given, dimension, f"{field}.{VECTOR_FIELD}")
    document = document_from_json(record, field=field)
    check_declared(document, fields, field=field)
    return Incoming(document, vector)


class Batch:
    """Documents that are stored together, and the texts of them that are yet to be encoded.

    A document that brings its vector stays whole, whatever the policy.

    Args:
        items: What came.
        policy: How the others are split; None for not at all.

    Attributes:
        documents: In the order of `items`.
        texts: To be encoded: a passage, or the whole of a document, each.
        places: Of the document of each text, in `documents`.
    """

    def __init__(self, items: Sequence[Incoming], policy: PassagePolicy | None) -> None:
        split = policy.split if policy is not None else lambda document: document
        self.documents = [i.document if i.vector is not None else split(i.document) for i in items]
        self._ready = [item.vector for item in items]
        places = [place for place, vector in enumerate(self._ready) if vector is None]
        without = [self.documents[place] for place in places]
        self.texts = passage_texts(without)
        self.places: list[int] = np.repeat(places, vector_counts(without)).tolist()

    def vectors(self, encoded: Vectors, *, dimension: int) -> Vectors:
        """Return float32 [passages of all documents, dimension], of any length.

        Args:
            encoded: float32 [texts, at least dimension]: of `texts`, in their order.
            dimension: Width of the corpus' vectors.
        """
        # A corpus scales what it stores to length 1; once is enough.
        encoded = finish(encoded, dimensions=dimension, normalised=False)
        if all(vector is None for vector in self._ready):
            return encoded
        counts = vector_counts(self.documents)
        vectors = np.empty((int(counts.sum()), dimension), dtype=np.float32)
        given = np.array([vector is not None for vector in self._ready], dtype=np.bool_)
        rows = np.repeat(given, counts)
        if given.any():
            vectors[rows] = np.stack([vector for vector in self._ready if vector is not None])
        vectors[~rows] = encoded
        return vectors


def _vector(value: object, dimension: int, field: str) -> Vectors:
    vector = _numbers(value, field)
    if vector.shape != (dimension,):
        raise InputError(
            f"The corpus takes vectors of {dimension} numbers, this one has {vector.size}.",
            field=field,
            given=value,
            remedy="Send vectors of the corpus' own space, or leave them out to have them made.",
        )
    if not np.isfinite(vector).all():
        raise InputError("A vector holds a number that is not finite.", field=field, given=value)
    return vector


def _numbers(value: object, field: str) -> Vectors:
    if isinstance(value, str):
        try:
            content = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            content = b"?"
        if len(content) % 4:
            raise MalformedError("This is no base64 of float32 numbers.", field=field, given=value)
        return np.frombuffer(content, dtype="<f4").astype(np.float32)
    # Of a bool, a string or a list among the numbers NumPy would make something of its own.
    if isinstance(value, list) and all(type(number) in (int, float) for number in value):
        with np.errstate(over="ignore"):  # becomes inf, which is refused
            return np.array(value, dtype=np.float64).astype(np.float32)
    raise MalformedError(
        "A vector is a list of numbers, or base64 of little-endian float32.",
        field=field,
        given=value,
    )
