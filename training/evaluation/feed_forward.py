"""A small feed-forward classifier on frozen vectors.

LASER's script, which Li 2021 uses (4.3.3, footnote 6)     10 ReLU, dropout 0.2
Chidambaram et al. 2018, 4.2                                512 tanh
SentEval's MLP (Conneau & Kiela 2018); Yu et al. 2018, 3    128 sigmoid
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from service.inference.session import Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedForward:
    """The shape of a network, and how it is fitted."""

    hidden: int = 10  # units of its one hidden layer
    activation: Literal["relu", "tanh", "sigmoid"] = "relu"
    dropout: float = 0.2
    rounds: int = 60  # through the examples; the best on the tuning set is kept
    batch: int = 32
    rate: float = 0.003  # Adam's
    decay: float = 0.0  # L2


class FittedNetwork:
    """A fitted network.

    Args:
        network: Vectors [rows, D], standardised -> logits [rows, labels].
        labels: In the order of its outputs.
        mean: float32 [D], taken from each vector ...
        scale: ... and what the difference is divided by.
    """

    def __init__(
        self, network: nn.Module, labels: tuple[str, ...], mean: Tensor, scale: Tensor
    ) -> None:
        self.labels = labels
        self._network = network
        self._mean = mean
        self._scale = scale

    def predict(self, vectors: Vectors) -> list[str]:
        """Return the label of each row of vectors [rows, D]."""
        self._network.eval()
        with torch.inference_mode():
            rows = (torch.from_numpy(np.ascontiguousarray(vectors)) - self._mean) / self._scale
            said = self._network(rows).argmax(1)
        return [self.labels[int(i)] for i in said]


def fit_feed_forward(
    shape: FeedForward,
    vectors: Vectors,
    labels: Sequence[str],
    *,
    tune: tuple[Vectors, Sequence[str]],
    seed: int = 0,
) -> FittedNetwork:
    """Return the network of the round that does best on `tune`.

    Args:
        shape: Of the network.
        vectors: float32 [rows, D]. One number is taken for the scale of all of them, so that
            systems whose vectors are long and those whose are short learn at the same rate.
        labels: Of each.
        tune: Vectors and labels that the round is chosen on.
        seed: Of weights and orders.
    """
    names = tuple(sorted(set(labels)))
    rows = torch.from_numpy(np.ascontiguousarray(vectors))
    mean = rows.mean(0)
    scale = (rows - mean).std().clamp_min(1e-12)
    rows = (rows - mean) / scale
    due = torch.tensor([names.index(label) for label in labels])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = _network(shape, rows.shape[1], len(names))
        fitted = FittedNetwork(network, names, mean, scale)
        optimiser = torch.optim.Adam(network.parameters(), lr=shape.rate, weight_decay=shape.decay)
        best, kept = -1, {name: value.clone() for name, value in network.state_dict().items()}
        for _ in range(shape.rounds):
            network.train()
            for places in torch.split(torch.randperm(len(rows)), shape.batch):
                loss = nn.functional.cross_entropy(network(rows[places]), due[places])
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
            said = fitted.predict(tune[0])
            hits = sum(a == b for a, b in zip(said, tune[1], strict=True))
            if hits > best:
                best = hits
                kept = {name: value.clone() for name, value in network.state_dict().items()}
    network.load_state_dict(kept)
    return fitted


def _network(shape: FeedForward, width: int, labels: int) -> nn.Sequential:
    activations = {"relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid}
    return nn.Sequential(
        nn.Dropout(shape.dropout),
        nn.Linear(width, shape.hidden),
        activations[shape.activation](),
        nn.Dropout(shape.dropout),
        nn.Linear(shape.hidden, labels),
    )
