"""What the engine needs of a graph that is ready to run, whatever runs it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from service.errors import BackendError
from service.text.tokenizer import Inputs

Vectors = npt.NDArray[np.float32]
"""float32 [batch, dimension]."""

_OUR_NAMES = {"input_ids": "ids", "attention_mask": "mask"}
"""Hugging Face's names of what we feed to a graph."""

_ZEROS = "token_type_ids"
"""An input that tells the first of two texts from the second; here is only a first."""

_PLACES = "position_ids"

INPUTS = frozenset({*_OUR_NAMES, *_OUR_NAMES.values(), _ZEROS, _PLACES})
"""What a graph may ask for; `graph_input` makes it."""

STATES = ("token_embeddings", "last_hidden_state")
"""Names of token vectors among several outputs."""

SENTENCES = "sentence_embedding"
"""The name of sentence vectors among several outputs."""


class Session(Protocol):
    """What the engine needs of a graph that is ready to run.

    Attributes:
        providers: What it computes on, best first.
        precision: That it computes in.
        batch_tokens: More tokens in one batch bring nothing; None where it has no opinion.
        pads: Whether padding is computed like tokens.
    """

    @property
    def providers(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def precision(self) -> str: ...  # noqa: D102
    @property
    def batch_tokens(self) -> int | None: ...  # noqa: D102
    @property
    def pads(self) -> bool: ...  # noqa: D102

    def run(self, inputs: Inputs) -> Vectors:
        """Return float32 [batch, dimension] for padded `inputs`: pooled, not normalised."""
        ...


def check_finite(vectors: Vectors) -> Vectors:
    """Return `vectors`, or raise BackendError where one has a number that is not finite."""
    if not np.isfinite(vectors).all():
        raise BackendError("The model returned numbers that are not finite.")
    return vectors


def graph_input(graph_name: str, inputs: Inputs) -> npt.NDArray[np.int64]:
    """Return the array for the input `graph_name`, int64 [batch, tokens]: ours, or made of it."""
    name = _OUR_NAMES.get(graph_name, graph_name)
    if name == _ZEROS:
        return np.zeros_like(inputs["ids"])
    if name == _PLACES:
        places: npt.NDArray[np.int64] = np.maximum(inputs["mask"].cumsum(axis=1) - 1, 0)
        return places
    return inputs[name]
