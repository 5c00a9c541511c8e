"""How often which pair is drawn: buckets of pairs, weighted by their size to a power.

Drawn in proportion to its size, a large language pair drowns the small ones; drawn alike, the small
ones are learned by heart. Size to the power of a temperature lies between (Arivazhagan et al. 2019,
Massively Multilingual Neural Machine Translation in the Wild, section 4.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from training.data.corpus import Corpus


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixing:
    """Weight of a bucket = pairs ** temperature x its source's x its two languages' weights."""

    temperature: float = 0.5  # 1: in proportion to size; 0: every bucket alike
    source_weights: Mapping[str, float] = field(default_factory=dict)  # 1 where not named
    language_weights: Mapping[str, float] = field(default_factory=dict)  # 1 where not named


@dataclass(frozen=True, slots=True)
class Buckets:
    """Pairs by language pair and source.

    Attributes:
        pairs: int64 [pairs], numbers of pairs, bucket after bucket.
        starts: int64 [buckets + 1], where each bucket begins in `pairs`.
        shares: float64 [buckets], how large a part of a batch each gets; they sum to 1.
        names: `<lang>-<lang> <source>` of each bucket.
    """

    pairs: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    shares: npt.NDArray[np.float64]
    names: tuple[str, ...]


def make_buckets(
    corpus: Corpus, mixing: Mixing, usable: npt.NDArray[np.bool_] | None = None
) -> Buckets:
    """Return the pairs of `corpus` in weighted buckets; a sentence beside itself is none.

    Args:
        corpus: Whose pairs.
        mixing: The weights.
        usable: bool [pairs]; pairs that are False are left out. All where None.
    """
    apart = corpus.pairs[:, 0] != corpus.pairs[:, 1]
    chosen = np.flatnonzero(apart if usable is None else apart & usable)
    languages = np.sort(corpus.language[corpus.pairs[chosen]].astype(np.int64), axis=1)
    keys = np.column_stack([languages, corpus.source[chosen].astype(np.int64)])
    found, bucket, sizes = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    weights = sizes.astype(np.float64) ** mixing.temperature
    names = []
    for i, (first, second, source) in enumerate(found):
        one, other = corpus.languages[first], corpus.languages[second]
        weights[i] *= mixing.source_weights.get(corpus.sources[source], 1.0)
        weights[i] *= mixing.language_weights.get(one, 1.0)
        weights[i] *= mixing.language_weights.get(other, 1.0)
        names.append(f"{one}-{other} {corpus.sources[source]}")
    return Buckets(
        pairs=chosen[np.argsort(bucket.ravel(), kind="stable")],
        starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        shares=weights / weights.sum(),
        names=tuple(names),
    )
