"""What `interlingua-mini` begins as: multilingual-e5-small, made smaller and mapped."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from training.closeness import taught_translations
from training.data.corpus import Corpus
from training.data.mixing import Mixing
from training.development import encode
from training.e5 import E5, empty_body, read_e5
from training.encoders.product_vectors import ProductVectors, product_vectors
from training.encoders.settled import SettledLayers
from training.kept_pieces import keep_pieces, piece_rows
from training.mini_parts import MiniParts
from training.served_vocabulary import ServedVocabulary
from training.shared_vocabulary import prepare_shared_tokens
from training.teacher import DIMENSION, TeacherVectors
from training.workspace import Workspace

MARKS = 2
"""Tokens that the layers read before each text."""

_FIRST, _LAST = 4, -1
"""Of its pieces, those that text is made of: what lies before and behind them are marks."""

_UNKNOWN = 3
_RIDGE = 1e-5  # for each sentence that the map is fitted on


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPlan:
    """How the model is made smaller, and mapped.

    Attributes:
        pieces: How many of its pieces are kept.
        piece_weights: Of languages where pieces are counted; 1 if none.
        read_parts: Of what the layers read of a piece: a byte each.
        fitted: Translations of a language that the map is fitted on.
        longest: Tokens of a sentence of these.
        without: Sources whose sentences are no sentences.
        seed: Of what is drawn.
    """

    pieces: int
    piece_weights: Mapping[str, float]
    read_parts: int
    fitted: int
    longest: int
    without: Collection[str]
    seed: int


def start(
    work: Workspace,
    corpus: Corpus,
    teacher: Callable[[], TeacherVectors],
    mixing: Mixing,
    plan: StartPlan,
) -> MiniParts:
    """Return the model over fewer pieces, mapped towards the teacher's vectors.

    Args:
        work: Keeps it.
        corpus: Says which pieces are used, and what the map is fitted on.
        teacher: Gives the vectors of its English, which what is kept needs no more.
        mixing: How often which source is drawn.
        plan: Sizes.

    Raises:
        InputError: The package with the model is not installed.
    """

    @cache
    def e5() -> E5:
        work.progress.title("start: multilingual-e5-small")
        return read_e5()

    def pieces() -> bytes:
        return keep_pieces(
            e5().pieces[_FIRST:_LAST],
            e5().scores[_FIRST:_LAST],
            corpus,
            count=plan.pieces,
            weights=plan.piece_weights,
            seed=plan.seed,
            progress=work.progress,
        )

    vocabulary = ServedVocabulary.of_pieces(work.keep_bytes("vocabulary.model", pieces))

    def make() -> SettledLayers:
        tokens = prepare_shared_tokens(work, corpus.texts, vocabulary, longest=plan.longest)
        occurrences = np.bincount(tokens.ids, minlength=vocabulary.size)
        layers = _smaller(e5(), vocabulary, occurrences, plan)
        layers.follow(_map(layers, vocabulary, corpus, teacher(), mixing, plan))
        return layers

    def load(path: Path) -> SettledLayers:
        read = ProductVectors.empty(vocabulary.size, DIMENSION, plan.read_parts)
        layers = SettledLayers(read, empty_body(), torch.zeros(MARKS, DIMENSION))
        layers.load_state_dict(torch.load(path, weights_only=True))
        return layers

    layers = work.keep(
        "start.pt", make, save=lambda made, path: torch.save(made.state_dict(), path), load=load
    )
    return MiniParts(vocabulary, layers)


def _smaller(
    whole: E5, vocabulary: ServedVocabulary, occurrences: npt.NDArray[np.int64], plan: StartPlan
) -> SettledLayers:
    rows = piece_rows(vocabulary.units, whole.pieces, unknown=_UNKNOWN)
    books = product_vectors(
        whole.words[rows].numpy(), occurrences, parts=plan.read_parts, seed=plan.seed
    )
    return SettledLayers(books, whole.body, whole.marks)


def _map(
    layers: SettledLayers,
    vocabulary: ServedVocabulary,
    corpus: Corpus,
    teacher: TeacherVectors,
    mixing: Mixing,
    plan: StartPlan,
) -> npt.NDArray[np.float32]:
    """Return the map [D, D] of least squares from the vectors of `layers` to the teacher's.

    Of translations and their English alike. There is no constant beside it: the vectors of this
    model have a large part in common, which the map may use as one.
    """
    found = taught_translations(
        corpus, teacher, mixing, without=plan.without, most=plan.fitted, seed=plan.seed
    )
    texts: list[str] = []
    targets: list[npt.NDArray[np.float32]] = []
    for of in found:
        texts += of.sentences + of.english
        targets += [of.teacher] * 2
    tokens = vocabulary.tokenizer.encode(texts, max_tokens=plan.longest).tokens
    x = torch.from_numpy(encode(layers, tokens, torch.device("cpu"))).double()
    y = torch.from_numpy(np.concatenate(targets)).double()
    ridge = _RIDGE * len(x) * torch.eye(x.shape[1], dtype=torch.float64)
    solved: Tensor = torch.linalg.solve(x.T @ x + ridge, x.T @ y)
    matrix: npt.NDArray[np.float32] = solved.float().numpy()
    return matrix
