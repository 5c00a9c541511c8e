"""Protocols by name, for the command line and for what is measured after an export."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol as Shape

from service.errors import NotFoundError
from training.data.folder import DataFolder
from training.evaluation import (
    baselines,
    classification,
    contrast,
    demo_corpus,
    eigen_similarity,
    few_shot,
    inference,
    large_search,
    maps,
    n_best,
    precision_at,
    senteval,
    similarity_search,
    speed,
    sts,
    tatoeba,
)
from training.evaluation.figures import Figure
from training.evaluation.models import SentenceModel


class Protocol(Shape):
    """A way to measure a model: a frozen dataclass of what may be changed, and this."""

    def measure(self, model: SentenceModel, folder: Callable[[], DataFolder]) -> list[Figure]:
        """Return the figures of `model`; `folder` opens the data where they are needed."""
        ...


PROTOCOLS: Mapping[str, Callable[[], Protocol]] = MappingProxyType(
    {
        tatoeba.NAME: tatoeba.Tatoeba,
        sts.NAME: sts.Sts,
        demo_corpus.NAME: demo_corpus.DemoCorpus,
        contrast.NAME: contrast.Contrast,
        similarity_search.NAME: similarity_search.SimilaritySearch,
        precision_at.NAME: precision_at.PrecisionAt,
        large_search.NAME: large_search.LargeSearch,
        n_best.NAME: n_best.NBest,
        classification.NAME: classification.Classification,
        few_shot.NAME: few_shot.FewShot,
        baselines.NAME: baselines.Baseline,
        inference.NAME: inference.Inference,
        senteval.NAME: senteval.SentEval,
        eigen_similarity.NAME: eigen_similarity.EigenSimilarity,
        "word-map": maps.WordMap,
        "document-map": maps.DocumentMap,
        speed.NAME: speed.Speed,
    }
)
"""By their names on the command line."""


def make_protocol(name: str, assignments: Sequence[str] = ()) -> Protocol:
    """Return the protocol of that name with `key=value` changes.

    Raises:
        NotFoundError: There is none of that name.
        InputError: A key that it does not have, or a value of the wrong kind.
    """
    from training.recipe import change

    if name not in PROTOCOLS:
        near = difflib.get_close_matches(name, PROTOCOLS, n=1)
        raise NotFoundError(
            f"There is no protocol of that name; there are {', '.join(PROTOCOLS)}.",
            field="--protocol",
            given=name,
            remedy=f"Did you mean {near[0]!r}?" if near else None,
        )
    return change(PROTOCOLS[name](), assignments)
