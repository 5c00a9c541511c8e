"""The hinge of Hermann & Blunsom 2013, eq. 6-7, against loops over numbers."""

import numpy as np
import torch

from training.objectives.noise_contrastive import NoiseContrastive


def test_equals_the_formula() -> None:
    random = np.random.default_rng(1)
    a, b = random.normal(size=(2, 5, 4))
    n = random.normal(size=(5, 3, 4))
    expected = 0.0
    for i in range(5):
        near = sum((a[i, d] - b[i, d]) ** 2 for d in range(4))
        for k in range(3):
            far = sum((a[i, d] - n[i, k, d]) ** 2 for d in range(4))
            expected += max(0.0, 2.5 + near - far)
    given = NoiseContrastive(margin=2.5)(*map(torch.from_numpy, (a, b, n)))
    assert abs(given.item() - expected) < 1e-9


def test_nothing_to_learn_where_noise_is_far() -> None:
    source = torch.zeros(2, 3, requires_grad=True)
    loss = NoiseContrastive(margin=50)(source, torch.zeros(2, 3), torch.full((2, 4, 3), 10.0))
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == 0
    assert not source.grad.any()  # type: ignore[union-attr]


def test_collapse_costs_the_margin_for_each_noise_sentence() -> None:
    zero = torch.zeros(2, 3)
    assert NoiseContrastive(margin=50)(zero, zero, torch.zeros(2, 4, 3)).item() == 2 * 4 * 50
