"""Means of weights."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from training.averaging import blend


@pytest.mark.parametrize("part", [0.0, 0.25, 1.0])
def test_weights_go_back_a_part_of_the_way(part: float) -> None:
    trained, start = nn.Linear(3, 2), nn.Linear(3, 2)
    expected = {
        name: (1 - part) * weight + part * start.get_parameter(name)
        for name, weight in trained.named_parameters()
    }
    before = start.weight.clone()
    blend(trained, start, part)
    for name, weight in trained.named_parameters():
        torch.testing.assert_close(weight, expected[name])
    assert torch.equal(start.weight, before)
