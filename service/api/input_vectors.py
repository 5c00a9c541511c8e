"""The vectors of a request's inputs, each taken as one text or as a document of several pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from service.api.limits import check_count
from service.api.schemas.splitting import MAX_PIECES
from service.api.work import Work
from service.inference.documents import (
    DocumentOptions,
    DocumentPooling,
    SplitDocuments,
    pool_pieces,
    split_documents,
)
from service.inference.encoder import Encoder
from service.inference.request import EmbedOptions
from service.inference.session import Vectors
from service.inference.vectors import finish


@dataclass(frozen=True, slots=True, eq=False)
class InputVectors:
    """Vectors of texts or documents.

    Attributes:
        vectors: float32 [inputs, dimensions].
        split: The documents' pieces; None where each text was taken as one.
        pieces: Vectors of the pieces, full and as the model gave them, [pieces, D].
    """

    vectors: Vectors
    split: SplitDocuments | None = None
    pieces: Vectors | None = None


async def embed_inputs(
    work: Work,
    encoder: Encoder,
    texts: Sequence[str],
    options: EmbedOptions,
    *,
    document: DocumentOptions | None,
    field: str = "inputs",
) -> InputVectors:
    """Return the vectors of `texts`; documents are split, embedded and pooled.

    Args:
        work: The request's.
        encoder: The model.
        texts: At most `work.max_inputs`; a document counts as one, however many pieces it has.
        options: How to embed.
        document: How to split and pool; None takes each text as one.
        field: Where the texts stood, for errors.

    Raises:
        TooLargeError: More texts, or pieces of documents, than are allowed.
        InterlinguaError: What `Work.embed` raises.
    """
    if document is None:
        return InputVectors((await work.embed(encoder, texts, options, field=field)).vectors)
    check_count(texts, work.max_inputs, field=field)
    split = await work.compute(
        split_documents, texts, document,
        encoder=encoder, language=options.language, prefix=encoder.prompt_prefix(options.prompt),
        most=MAX_PIECES, check=work.check,
    )  # fmt: skip
    whole = replace(options, dimensions=None, normalize=False)
    pieces = split.texts
    parts = [
        (await work.embed(encoder, pieces[begin : begin + work.max_inputs], whole)).vectors
        for begin in range(0, len(pieces), work.max_inputs)
    ]
    vectors: Vectors = np.concatenate(parts)
    normalised = encoder.manifest.normalised if options.normalize is None else options.normalize
    finished = await work.compute(
        _pooled, vectors, split, document.pooling,
        dimensions=options.dimensions, normalised=normalised,
    )  # fmt: skip
    return InputVectors(finished, split, vectors)


def _pooled(
    vectors: Vectors,
    split: SplitDocuments,
    pooling: DocumentPooling,
    *,
    dimensions: int | None,
    normalised: bool,
) -> Vectors:
    pooled = pool_pieces(vectors, split.counts, pooling)
    return finish(pooled, dimensions=dimensions, normalised=normalised)
