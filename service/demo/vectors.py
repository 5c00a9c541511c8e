"""Vectors of the demo corpus by the default model, made beforehand: a first start only reads them.

They belong to the very weights and the very text that they were made of. With others the corpus is
encoded when it is first wanted, as any corpus is. After a change of either they are made anew:

    python -m service.demo.vectors
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from service.inference.encoder import Encoder
from service.inference.formats import to_format
from service.inference.session import Vectors
from service.inference.vectors import normalise
from service.shipped import DEMO_CORPUS, shipped_models

VECTORS = DEMO_CORPUS.with_name("vectors.npz")


def read_vectors(
    identity: str, *, path: Path = VECTORS, corpus: Path = DEMO_CORPUS
) -> Vectors | None:
    """Return float32 [documents, D], unit vectors in the order of the corpus's lines.

    Args:
        identity: Of the bundle that they are to be of.
        path: Where they are kept, in 8 bits a number.
        corpus: The demo corpus.

    Returns:
        None where there are none of this bundle and this text.
    """
    if not path.exists() or not corpus.exists():
        return None
    with np.load(path) as arrays:
        if str(arrays["made_of"]) != _made_of(identity, corpus):
            return None
        return normalise(arrays["codes"].astype(np.float32))


def write_vectors(encoder: Encoder, *, path: Path = VECTORS, corpus: Path = DEMO_CORPUS) -> None:
    """Encode the documents of `corpus` and keep their vectors at `path`."""
    from service.demo.loader import read_documents

    texts = [document.text for batch in read_documents(corpus) for document in batch]
    codes = to_format(encoder.encode(texts), "int8")
    np.savez_compressed(path, made_of=_made_of(encoder.manifest.identity, corpus), codes=codes)


def _made_of(identity: str, corpus: Path) -> str:
    return f"{identity} {hashlib.sha256(corpus.read_bytes()).hexdigest()[:16]}"


if __name__ == "__main__":
    write_vectors(Encoder(shipped_models()[0]))
