"""In which form vectors leave: JSON, or bytes where the client says it takes them.

| accept | the answer |
|---|---|
| `application/json`, `*/*`, none, or what is not known here | JSON |
| `application/octet-stream` | the rows one after another, little-endian; shape in a header |
| `application/x-npy` | the same as NumPy's file: `np.load(io.BytesIO(body))` |
"""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import Collection
from functools import cache
from typing import Any, Literal

import numpy as np
from fastapi import Request
from starlette.responses import Response

from service.api.responses import Json
from service.inference.formats import Formatted

BYTES = "application/octet-stream"
NPY = "application/x-npy"

_JSON = frozenset({"application/json", "application/*", "*/*"})


def vectors_answer(
    request: Request, vectors: Formatted, *, encoding: Literal["float", "base64"] | None
) -> Response:
    """Return the answer to `request` that its `accept` asks for.

    Args:
        request: Whose headers say what it takes.
        vectors: [texts, numbers].
        encoding: Of the vectors in JSON: lists of numbers, or base64 of their bytes.
    """
    kind = preferred(request.headers.get("accept", ""))
    headers = vector_headers(vectors)
    if kind == BYTES:
        return Response(little_endian(vectors).tobytes(), headers=headers, media_type=BYTES)
    if kind == NPY:
        file = io.BytesIO()
        np.save(file, vectors, allow_pickle=False)
        return Response(file.getvalue(), headers=headers, media_type=NPY)
    return Json(rows(vectors, encoding), headers=headers)


def vector_headers(vectors: Formatted) -> dict[str, str]:
    """Return the headers that tell what `vectors` are, whatever the form they leave in."""
    return {
        "vary": "accept",
        "x-vector-shape": ",".join(map(str, vectors.shape)),
        "x-vector-type": _name_of(vectors.dtype),
    }


@cache  # NumPy works a type's name out anew each time, in as long as a vector is normalised in
def _name_of(dtype: np.dtype[Any]) -> str:
    return str(dtype.name)


def rows(vectors: Formatted, encoding: Literal["float", "base64"] | None) -> Formatted | list[str]:
    """Return what stands for the vectors in JSON: an array, or a base64 string for each."""
    if encoding != "base64":
        return vectors
    return [base64.b64encode(row.tobytes()).decode("ascii") for row in little_endian(vectors)]


def little_endian(vectors: Formatted) -> Formatted:
    """Return `vectors` as clients read their bytes."""
    if sys.byteorder == "little":
        return vectors
    swapped: Formatted = vectors.astype(vectors.dtype.newbyteorder("<"))
    return swapped


def preferred(accept: str, forms: Collection[str] = (BYTES, NPY)) -> str | None:
    """Return the one of `forms` that `accept` likes best; None for JSON.

    A form must be named to be sent: wildcards, and what is not known here, mean JSON.
    """
    best, weight = None, 0.0
    for part in accept.lower().split(","):
        kind, *parameters = (piece.strip() for piece in part.split(";"))
        quality = _quality(parameters)
        if quality > weight and (kind in _JSON or kind in forms):
            best, weight = kind, quality
    return best if best in forms else None


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0
