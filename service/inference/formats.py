"""Vectors in fewer bytes; what each costs is measured in docs/clients.md.

| format | bytes of 384 dimensions | what is kept |
|---|---|---|
| float32 | 1,536 | all |
| float16 | 768 | eleven bits of each number |
| int8 | 384 | direction: each vector scaled so that its largest number is 127 |
| ubinary, binary | 48 | signs, eight to a byte, the first dimension in the highest bit |

The names are those of sentence-transformers' `precision`. Its int8 wants ranges measured on a
corpus; here every vector has its own, so nothing has to be known beforehand, and cosines, to which
a vector's length is nothing, keep their meaning.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from service.inference.session import Vectors

Format = Literal["float32", "float16", "int8", "binary", "ubinary"]

Formatted = npt.NDArray[np.float32 | np.float16 | np.int8 | np.uint8]
"""[texts, dimension], or [texts, dimension / 8 rounded up] where the bits are packed."""


def to_format(vectors: Vectors, format: Format) -> Formatted:
    """Return float32 `vectors` [texts, dimension] in `format`, in rows that lie side by side."""
    if format == "float16":
        return vectors.astype(np.float16)
    if format == "int8":
        largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
        # Divided first: what is near the least float32 must not overflow on the way.
        scaled = vectors / np.where(largest == 0, np.float32(1), largest) * np.float32(127)
        return np.rint(scaled).astype(np.int8)
    if format in ("binary", "ubinary"):
        packed = np.packbits(vectors > 0, axis=1)
        # Signed as sentence-transformers has it: the same bits, less 128.
        return packed if format == "ubinary" else (packed.astype(np.int16) - 128).astype(np.int8)
    return np.ascontiguousarray(vectors)
