"""Documents as the mean, or the greatest, of the vectors of their parts.

Hermann & Blunsom 2013, section 4.2: "Each document in the classification task is represented by the
average of the d-dimensional representations of all its sentences." Yu et al. 2018, section 5.1,
compare that with windows of 128 words, 64 further on each time, and with max-pooling.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from service.inference.session import Vectors
from training.evaluation.models import SentenceModel, vectors_of

Segments = Literal["punctuation", "window", "whole"]
"""Where a document is cut: at sentence ends, into windows of words that overlap, or where the model
cuts it ("we only take the first 64 tokens", Chidambaram et al. 2018, section 4.2)."""

Pooling = Literal["mean", "max"]
"""How the vectors of its parts become one."""

_BORDER = re.compile(
    r"""
    \s*\n+\s*                   # a line
    | \s+\|\|\s+                # a segment border, as some sets of documents mark it
    | (?<=[.!?])\s+             # the end of a sentence
    | (?<=[.!?]["'”’»)\]])\s+   # and of one that ends in a quotation or brackets
    | (?<=[。！？।؟])\s*         # where no blank follows
    """,
    re.VERBOSE,
)


def split_sentences(document: str) -> list[str]:
    """Return the sentences of `document`: cut at line ends, `||`, and after . ! ? and their like.

    Plain as the papers have it (Yu et al. 2018, section 5.1, split at [.!?]): "Dr. No" is cut too.
    """
    return [part for piece in _BORDER.split(document) if (part := piece.strip())]


def split_windows(document: str, *, width: int = 128, stride: int = 64) -> list[str]:
    """Return windows of `width` words of `document`, each `stride` words after the one before.

    The last one ends with the document and may be shorter; a short document is one window.
    """
    words = document.replace(" || ", " ").split()
    last = max(0, len(words) - width)
    starts = [*range(0, last, stride), last] if words else []
    return [" ".join(words[start : start + width]) for start in starts]


def _whole(document: str) -> list[str]:
    return [document] if document.strip() else []


_SPLITS: Mapping[Segments, Callable[[str], list[str]]] = {
    "punctuation": split_sentences,
    "window": split_windows,
    "whole": _whole,
}


def document_vectors(
    model: SentenceModel,
    documents: Sequence[str],
    language: str,
    *,
    segments: Segments = "punctuation",
    pooling: Pooling = "mean",
) -> Vectors:
    """Return float32 [documents, D]; zeros for an empty one.

    Parts are taken as the model gives them, not scaled to length 1: in additive models long
    sentences weigh more, and the papers pool those.

    Args:
        model: What encodes.
        documents: Running text, or sentences a line.
        language: Of all of them.
        segments: Where they are cut.
        pooling: How the parts' vectors become the document's.
    """
    split = _SPLITS[segments]
    parts = [split(document) for document in documents]
    flat = [part for of_one in parts for part in of_one]
    vectors = vectors_of(model, flat, language, unit=False)
    pooled = np.zeros((len(documents), model.dimension), dtype=np.float32)
    start = 0
    for row, of_one in enumerate(parts):
        if of_one:
            own = vectors[start : start + len(of_one)]
            pooled[row] = own.mean(0) if pooling == "mean" else own.max(0)
        start += len(of_one)
    return pooled
