"""A small feed-forward classifier on frozen vectors.

LASER's script, which Li 2021 uses (4.3.3, footnote 6)     `FeedForward()`, see there
Chidambaram et al. 2018, 4.2                                `TANH_512`
SentEval's MLP (Conneau & Kiela 2018); Yu et al. 2018, 3    128 sigmoid
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from service.inference.session import Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedForward:
    """The shape of a network, and how it is fitted.

    Departure: LASER's script for MLDoc has layers of 10 and 8, tanh, a rate of 0.001, batches of 12
    and 500 rounds, on vectors as they are; of that, 10 units, dropout and the choice of the round
    are here.
    """

    layers: int = 1  # hidden ones, alike ...
    hidden: int = 10  # ... with so many units
    activation: Literal["relu", "tanh", "sigmoid"] = "relu"
    dropout: float = 0.2
    rounds: int = 60  # through the examples
    kept: Literal["best", "last"] = "best"  # round; the best on the tuning set
    batch: int = 32
    rate: float = 0.003  # Adam's
    cooling: float = 1.0  # factor on the rate after each round
    decay: float = 0.0  # L2
    # One number is taken for the scale of all vectors, so that systems whose vectors are long and
    # those whose are short learn at the same rate.
    standardised: bool = True


TANH_512 = FeedForward(
    layers=2,
    hidden=512,
    activation="tanh",
    dropout=0.0,
    rounds=20,
    kept="last",
    batch=16,
    rate=0.0005,
    cooling=0.9,
    standardised=False,
)
"""What Chidambaram et al. 2018, section 4.2, classify reviews with."""


class FittedNetwork:
    """A fitted network.

    Args:
        network: Vectors [rows, D], moved and scaled -> logits [rows, labels].
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
    """Return the network of the last round, or of the one that does best on `tune`.

    Args:
        shape: Of the network.
        vectors: float32 [rows, D].
        labels: Of each.
        tune: Vectors and labels that the round is chosen on.
        seed: Of weights and orders.
    """
    names = tuple(sorted(set(labels)))
    rows = torch.from_numpy(np.ascontiguousarray(vectors))
    mean, scale = _spread(rows) if shape.standardised else (torch.zeros(()), torch.ones(()))
    rows = (rows - mean) / scale
    due = torch.tensor([names.index(label) for label in labels])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = _network(shape, rows.shape[1], len(names))
        fitted = FittedNetwork(network, names, mean, scale)
        optimiser = torch.optim.Adam(network.parameters(), lr=shape.rate, weight_decay=shape.decay)
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimiser, shape.cooling)
        best, kept = -1, _copy(network)
        for _ in range(shape.rounds):
            network.train()
            for places in torch.split(torch.randperm(len(rows)), shape.batch):
                loss = nn.functional.cross_entropy(network(rows[places]), due[places])
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
            schedule.step()
            if shape.kept == "last":
                continue
            said = fitted.predict(tune[0])
            hits = sum(a == b for a, b in zip(said, tune[1], strict=True))
            if hits > best:
                best, kept = hits, _copy(network)
    if shape.kept == "best":
        network.load_state_dict(kept)
    return fitted


def _spread(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean [D] of `rows` and one number for how far they are from it."""
    mean = rows.mean(0)
    return mean, (rows - mean).std().clamp_min(1e-12)


def _copy(network: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in network.state_dict().items()}


def _network(shape: FeedForward, width: int, labels: int) -> nn.Sequential:
    activations = {"relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid}
    widths = [width, *[shape.hidden] * shape.layers]
    parts: list[nn.Module] = []
    for before, after in pairwise(widths):
        parts += [
            nn.Dropout(shape.dropout),
            nn.Linear(before, after),
            activations[shape.activation](),
        ]
    return nn.Sequential(*parts, nn.Dropout(shape.dropout), nn.Linear(widths[-1], labels))
