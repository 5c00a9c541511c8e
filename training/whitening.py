"""Vectors whose directions weigh more alike.

A few directions that all sentences share make up much of any two's cosine, and what tells one
sentence from another lies in the rest. Whitening gives all directions the same weight (Su et al.
2021, Whitening Sentence Representations for Better Semantics and Faster Retrieval, section 3). A
part of it is enough, and leaves vectors near where they were: in their space.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from service.text.tokenizer import Tokenizer
from training.data.corpus import Corpus
from training.development import encode

_SAMPLED = 300  # sentences of a language that the map is fitted on
_LEAST_SPREAD = 0.1
"""Of the mean spread: directions in which nearly nothing lies are not blown up."""


def partial_whitening(vectors: npt.NDArray[np.float32], power: float) -> npt.NDArray[np.float32]:
    """Return the symmetric map [D, D] that divides each principal direction by its spread.

    Args:
        vectors: [N, D], of sentences like those that will come.
        power: Of the spread: 1 whitens, 0 changes nothing.
    """
    variances, directions = np.linalg.eigh(np.cov(vectors.T.astype(np.float64)))
    spread = np.sqrt(np.maximum(variances, 0.0))
    spread = np.maximum(spread / spread.mean(), _LEAST_SPREAD)
    found: npt.NDArray[np.float32] = (directions * spread**-power @ directions.T).astype(np.float32)
    return found


def fit_whitening(
    encoder: nn.Module,
    corpus: Corpus,
    tokenizer: Tokenizer,
    power: float,
    *,
    without: Collection[str],
    longest: int,
    seed: int,
) -> npt.NDArray[np.float32]:
    """Return that map [D, D] for an encoder, fitted on training sentences of all languages.

    Args:
        encoder: On the CPU; ragged sentences to [B, D].
        corpus: Whose sentences.
        tokenizer: The encoder's.
        power: Of the spread.
        without: Sources whose sentences are no sentences.
        longest: Tokens of a sentence; what is longer is cut.
        seed: Which sentences.
    """
    generator = np.random.default_rng(seed)
    sentences = corpus.sentences_outside(without)
    languages = corpus.language[sentences]
    chosen = [
        generator.permutation(sentences[languages == number])[:_SAMPLED]
        for number in range(len(corpus.languages))
    ]
    texts = [corpus.texts[number] for number in np.concatenate(chosen)]
    tokens = tokenizer.encode(texts, max_tokens=longest).tokens
    return partial_whitening(encode(encoder, tokens, torch.device("cpu")), power)
