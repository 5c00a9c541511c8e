"""Encode the demo corpus anew where the model has other weights than those that encoded it.

Vectors of other weights lie in the same space and are found, but with other scores in another order
than the README shows. The corpus is ours for as long as it holds what was shipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from service.demo.loader import DEMO_NAME, read_documents
from service.demo.vectors import VECTORS, read_vectors
from service.inference.encoder import Encoder
from service.inference.session import Vectors
from service.search.backend import CorporaBackend, CorpusBackend
from service.search.document import Document
from service.search.indexing import Embed
from service.search.reencode import NewSpace, reencode
from service.shipped import DEMO_CORPUS


def renew_demo(
    corpora: CorporaBackend,
    encoder: Encoder,
    encode: Embed,
    *,
    path: Path = DEMO_CORPUS,
    vectors: Path = VECTORS,
) -> int:
    """Encode the demo corpus anew in its place, and return its documents.

    Args:
        corpora: Where it is.
        encoder: What is looked for in it is encoded by this; of its space.
        encode: Texts -> float32 [texts, dimension], by `encoder`.
        path: The documents, as JSON Lines.
        vectors: Theirs, made beforehand, which are taken where they are of `encoder`.

    Returns:
        0 where it is left as it is: it has the vectors of `encoder`, or those of another model
        of the space and none were made beforehand, or somebody changed its documents.

    Raises:
        NotFoundError: There is no demo corpus.
        ConflictError: The engine cannot encode it anew, or another process does.
        StorageError: The disk refused; the corpus is as it was.
    """
    demo = corpora.get(DEMO_NAME)
    manifest = encoder.manifest
    if demo.identity == manifest.identity or not path.exists():
        return 0
    ready = read_vectors(manifest.identity, path=vectors, corpus=path)
    # Models of one space search what others encoded, so that nobody waits for a transformer.
    if ready is None and demo.model != encoder.name:
        return 0
    shipped = [document for batch in read_documents(path) for document in batch]
    if not _holds(demo, shipped):
        return 0
    made = {} if ready is None else dict(zip((d.text for d in shipped), ready, strict=True))

    def embed(texts: Sequence[str]) -> Vectors:
        # Others may write to the corpus since it was looked at.
        if all(text in made for text in texts):
            return np.stack([made[text] for text in texts])
        return encode(texts)

    new = NewSpace(encoder.name, manifest.space, demo.dimension, manifest.identity)
    return reencode(corpora, DEMO_NAME, new, embed, lambda *_: None)


def _holds(demo: CorpusBackend, documents: Sequence[Document]) -> bool:
    """Return whether `demo` holds `documents`, word for word, and no others."""
    stored = demo.page(limit=len(documents) + 1).documents
    return {d.id: d for d in stored} == {d.id: d for d in documents}
