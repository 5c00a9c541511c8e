"""Whether the weights that encoded a corpus are those that encode what is looked for in it.

A model may be trained on under its name and in its space: any of its weights may search what others
encoded, and nothing fails, but vectors of the same text differ.
"""

from __future__ import annotations

import orjson

from service.bundle.manifest import Manifest
from service.search.backend import CorpusBackend
from service.search.corpora import Corpus


def other_weights(corpus: CorpusBackend, manifest: Manifest) -> str | None:
    """Return what to tell where `corpus` was encoded by the model of `manifest` in other weights.

    Returns:
        What is wrong and what to do; None where nothing is. Another model of the space is what
        somebody chose, and nothing to tell of.
    """
    same_model = (corpus.model, corpus.space) == (manifest.name, manifest.space)
    if not same_model or corpus.identity == manifest.identity or not corpus.count():
        return None
    model, now = manifest.name, manifest.identity
    if corpus.identity is None:
        known = (
            f"was encoded by an earlier build, which did not write down by which weights of {model}"
            f": unless by {now}, which it has now,"
        )
    else:
        known = f"was encoded by {model} with weights {corpus.identity}; it has {now} now:"
    return (
        f"Corpus {corpus.name!r} {known} questions and documents fit each other less well than "
        f"where the same encode both. {_remedy(corpus)}"
    )


def _remedy(corpus: CorpusBackend) -> str:
    if not isinstance(corpus, Corpus):
        return "Export the corpus and fill a new one from it."
    wanted = orjson.dumps({"model": corpus.model, "dimensions": corpus.dimension}).decode()
    return f"Encode it anew: POST /corpora/{corpus.name}/reencode {wanted}"
