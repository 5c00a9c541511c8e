"""Documents as the mean of their sentences' vectors.

Hermann & Blunsom 2013, section 4.2: "Each document in the classification task is represented by the
average of the d-dimensional representations of all its sentences."
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from service.inference.encoder import Encoder
from service.inference.session import Vectors

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

    Plain as the papers have it (Yu et al. 2018, section 3.3, split at [.!?]): "Dr. No" is cut too.
    """
    return [part for piece in _BORDER.split(document) if (part := piece.strip())]


def document_vectors(encoder: Encoder, documents: Sequence[str], language: str) -> Vectors:
    """Return float32 [documents, D], the mean of their sentences; zeros for an empty one.

    Sentences are taken as the encoder gives them, not scaled to length 1: in additive models long
    sentences weigh more, and the paper averages those.

    Args:
        encoder: A loaded bundle.
        documents: Running text, or sentences a line.
        language: Of all of them.
    """
    sentences = [split_sentences(document) for document in documents]
    flat = [sentence for parts in sentences for sentence in parts]
    named = language if encoder.needs_language else None
    vectors = encoder.encode(flat, language=named, normalize=False)
    means = np.zeros((len(documents), encoder.dimension), dtype=np.float32)
    start = 0
    for row, parts in enumerate(sentences):
        if parts:
            means[row] = vectors[start : start + len(parts)].mean(0)
        start += len(parts)
    return means
