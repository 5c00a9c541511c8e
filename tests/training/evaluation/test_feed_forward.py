"""The classifier of Chidambaram et al. 2018 against the same written down with torch."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from training.evaluation.feed_forward import TANH_512, fit_feed_forward

RANDOM = np.random.default_rng(3)
VECTORS = RANDOM.normal(size=(100, 6)).astype(np.float32)
LABELS = ["left" if row[0] < 0 else "right" for row in VECTORS]
NOWHERE = VECTORS[:0], LABELS[:0]  # nothing is chosen by the tuning set


def by_hand(seed: int) -> nn.Sequential:
    """Return the network of section 4.2, fitted as it says."""
    torch.manual_seed(seed)
    network = nn.Sequential(
        nn.Linear(6, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 2)
    )
    due = torch.tensor([int(label == "right") for label in LABELS])
    for epoch in range(20):
        rate = 0.0005 * 0.9**epoch
        if epoch == 0:
            optimiser = torch.optim.Adam(network.parameters(), lr=rate)
        optimiser.param_groups[0]["lr"] = rate
        for places in torch.split(torch.randperm(100), 16):
            optimiser.zero_grad()
            said = network(torch.from_numpy(VECTORS[places.numpy()]))
            torch.autograd.backward(nn.functional.cross_entropy(said, due[places]))
            optimiser.step()
    return network


def test_two_tanh_layers_and_a_rate_that_falls() -> None:
    fitted = fit_feed_forward(TANH_512, VECTORS, LABELS, tune=NOWHERE, seed=5)
    with torch.random.fork_rng(devices=[]):
        expected = by_hand(5)
    rows = torch.from_numpy(RANDOM.normal(size=(40, 6)).astype(np.float32))
    with torch.inference_mode():
        torch.testing.assert_close(fitted._network(rows), expected(rows), rtol=1e-3, atol=1e-3)
        places = expected(rows).argmax(1).tolist()
    assert fitted.predict(rows.numpy()) == [("left", "right")[i] for i in places]


def test_it_learns_what_no_line_parts() -> None:
    vectors = RANDOM.normal(size=(800, 2)).astype(np.float32)
    labels = ["inside" if np.linalg.norm(row) < 1.2 else "outside" for row in vectors]
    fitted = fit_feed_forward(TANH_512, vectors, labels, tune=NOWHERE)
    hits = [a == b for a, b in zip(fitted.predict(vectors), labels, strict=True)]
    assert np.mean(hits) > 0.95
