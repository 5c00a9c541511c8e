"""A last map of the vectors, fitted on pairs of sentences that people have scored.

Distillation and ranking say which sentences mean the same; how alike two are that do not, people
have to say. One matrix M close to the identity is enough to heed them: vectors v become
unit(v M), and since all languages lie in one space, scores of two languages teach it for all.
With p the pairs' cosines, s their scores, x and y translations and t the teacher's vectors of
English y, what is minimised is

    - 10 corr(p, s)  +  kept (1 - mean cos(v M, v))  +  ranking(x M, y M)  +  taught ranking(x M, t)

The correlation is Pearson's, which such sets are published with (Cer et al. 2017, section 6). The
second term keeps vectors near where they were, the others keep translations together and all of it
in the teacher's space: the more `taught` counts, the better its own vectors are found.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from service.text.tokenizer import Tokenizer
from training.data.corpus import Corpus
from training.data.mixing import Mixing, make_buckets
from training.data.scored_pairs import ScoredPairs
from training.development import encode
from training.objectives.correlation import correlation
from training.objectives.ranking import symmetric_ranking
from training.schedules import LinearDecay
from training.teacher import TeacherVectors

_RATE = 1e-3  # Adam's
_WARM_UP = 0.3  # part of the steps
_BATCH = 512  # pairs of each language with scores, and of each of two languages with translations
_SCORED = 10.0  # weight of the correlation
_TEMPERATURE = 0.05


@dataclass(frozen=True, slots=True)
class TaughtTranslations:
    """Translations of a language into English, and the teacher's vectors of the English.

    Attributes:
        sentences: [N].
        english: [N].
        teacher: float32 [N, D].
    """

    sentences: list[str]
    english: list[str]
    teacher: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosenessPlan:
    """How the map is fitted."""

    steps: int
    kept: float  # weight of where vectors are
    taught: float = 1.0  # weight of the teacher's own vectors
    translations: int = 1200  # of a language
    longest: int  # tokens of a sentence; what is longer is cut
    seed: int


def taught_translations(
    corpus: Corpus,
    teacher: TeacherVectors,
    mixing: Mixing,
    *,
    without: Collection[str],
    most: int,
    seed: int,
) -> list[TaughtTranslations]:
    """Return some pairs of each language that has any with English that is taught.

    Args:
        corpus: Whose pairs.
        teacher: Vectors of its English.
        mixing: How often which source is drawn.
        without: Sources whose sentences are no sentences.
        most: Of a language.
        seed: Which are drawn.
    """
    inside = [number for number, name in enumerate(corpus.sources) if name in without]
    english = corpus.languages.index("en")
    usable = (corpus.language[corpus.pairs[:, 1]] == english) & ~np.isin(corpus.source, inside)
    usable &= teacher.row[corpus.pairs[:, 1]] >= 0
    if not usable.any():
        return []
    buckets = make_buckets(corpus, mixing, usable)
    sizes = np.diff(buckets.starts)
    shares = np.repeat(buckets.shares / sizes, sizes)
    languages = corpus.language[corpus.pairs[buckets.pairs, 0]]
    draw = np.random.default_rng(seed)
    found = []
    for number in np.unique(languages):
        of_it = np.flatnonzero(languages == number)
        odds = shares[of_it] / shares[of_it].sum()
        chosen = draw.choice(of_it, min(len(of_it), most), replace=False, p=odds)
        left, right = corpus.pairs[buckets.pairs[chosen]].astype(np.int64).T
        found.append(
            TaughtTranslations(
                [corpus.texts[sentence] for sentence in left],
                [corpus.texts[sentence] for sentence in right],
                teacher.of(right)[1],
            )
        )
    return found


def fit_closeness(
    encoder: nn.Module,
    tokenizer: Tokenizer,
    pairs: Sequence[ScoredPairs],
    translations: Sequence[TaughtTranslations],
    plan: ClosenessPlan,
) -> npt.NDArray[np.float32]:
    """Return M, float32 [D, D].

    Args:
        encoder: On the CPU; ragged sentences to [B, D].
        tokenizer: Its own.
        pairs: With scores; languages weigh alike.
        translations: That are to stay together; languages are drawn alike.
        plan: Steps and weights.
    """

    def vectors(texts: Sequence[str]) -> Tensor:
        tokens = tokenizer.encode(texts, max_tokens=plan.longest).tokens
        return torch.from_numpy(encode(encoder, tokens, torch.device("cpu")))

    scored = [
        _Scored(vectors(of.first), vectors(of.second), torch.tensor(of.scores)) for of in pairs
    ]
    translated = [
        _Translated(
            vectors(of.sentences),
            vectors(of.english),
            functional.normalize(torch.from_numpy(of.teacher), dim=1),
        )
        for of in translations
    ]
    return _fitted(scored, translated, plan).numpy()


class _Scored(NamedTuple):
    first: Tensor  # [N, D]
    second: Tensor
    scores: Tensor  # [N]


class _Translated(NamedTuple):
    sentences: Tensor  # [N, D]
    english: Tensor
    teacher: Tensor  # [N, D]


def _fitted(
    scored: Sequence[_Scored], translated: Sequence[_Translated], plan: ClosenessPlan
) -> Tensor:
    identity = torch.eye(scored[0].first.shape[1])
    change = nn.Parameter(torch.zeros_like(identity))
    optimiser = torch.optim.Adam([change], lr=_RATE)
    rate = LinearDecay(plan.steps, warm_up=_WARM_UP)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, rate.factor)
    draw = np.random.default_rng(plan.seed)

    def mapped(vectors: Tensor) -> Tensor:
        return functional.normalize(vectors @ (identity + change), dim=1)

    def correlated(of: _Scored) -> Tensor:
        rows = _rows(draw, len(of.scores))
        cosines = (mapped(of.first[rows]) * mapped(of.second[rows])).sum(1)
        return correlation(cosines, of.scores[rows])

    def held(of: _Translated) -> Tensor:
        rows = _rows(draw, len(of.teacher))
        x, y = of.sentences[rows], of.english[rows]
        x_now, y_now = mapped(x), mapped(y)
        stayed = ((x_now * x).sum(1) + (y_now * y).sum(1)) / 2
        return (
            plan.kept * (1 - stayed.mean())
            + symmetric_ranking(x_now, y_now, temperature=_TEMPERATURE)
            + plan.taught * symmetric_ranking(x_now, of.teacher[rows], temperature=_TEMPERATURE)
        )

    for _ in range(plan.steps):
        loss = -_SCORED * torch.stack([correlated(of) for of in scored]).mean()
        if translated:
            two = draw.integers(len(translated), size=2)
            loss = loss + torch.stack([held(translated[number]) for number in two]).mean()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
    return (identity + change).detach()


def _rows(draw: np.random.Generator, count: int) -> Tensor:
    """Return the numbers of a batch, none twice."""
    return torch.from_numpy(draw.permutation(count)[:_BATCH])
