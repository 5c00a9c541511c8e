"""Correlation in torch against SciPy's."""

from __future__ import annotations

import pytest
import torch
from scipy.stats import pearsonr

from training.objectives.correlation import correlation


@pytest.mark.parametrize("seed", range(3))
def test_it_is_pearsons(seed: int) -> None:
    one, other = torch.randn(2, 40, generator=torch.Generator().manual_seed(seed)) * 3 + 7
    assert float(correlation(one, other)) == pytest.approx(float(pearsonr(one, other)[0]), abs=1e-5)


def test_it_has_a_gradient_towards_agreement() -> None:
    one = torch.randn(20, requires_grad=True, generator=torch.Generator().manual_seed(5))
    other = torch.randn(20, generator=torch.Generator().manual_seed(6))
    correlation(one, other).backward()  # type: ignore[no-untyped-call]
    assert one.grad is not None
    assert correlation(one + one.grad, other) > correlation(one, other)
