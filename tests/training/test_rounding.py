"""Layers that are trained with weights of 4 bits."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from training.graphs.static import store
from training.rounding import keep_rounded, leave_rounded


def make_layers() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 128), nn.Linear(8, 8))


def weight_of(layers: nn.Sequential, number: int) -> Tensor:
    layer = layers[number]
    assert isinstance(layer, nn.Linear)
    return layer.weight


def test_it_computes_with_what_four_bits_hold() -> None:
    layers = make_layers()
    before = weight_of(layers, 0).detach().clone()
    keep_rounded(layers)
    expected = torch.from_numpy(store(before.numpy(), "int4").widened())
    assert torch.equal(weight_of(layers, 0), expected)
    assert not torch.equal(expected, before)


def test_small_steps_add_up_to_a_step_of_the_scale() -> None:
    layers = make_layers()
    keep_rounded(layers)
    start = weight_of(layers, 0).detach().clone()
    optimiser = torch.optim.SGD(layers.parameters(), lr=1e-4)
    moved = 0
    for step in range(200):
        optimiser.zero_grad()
        # The gradient is 1 everywhere, rounded or not.
        weight_of(layers, 0).sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if step == 0:
            assert (weight_of(layers, 0) != start).float().mean() < 0.05
        moved = int((weight_of(layers, 0) < start).sum())
    assert moved > 0.5 * start.numel()


def test_what_is_left_is_held_by_four_bits_exactly() -> None:
    layers = make_layers()
    keep_rounded(layers)
    with torch.no_grad():
        for weight in layers.parameters():
            weight.add_(0.01 * torch.randn_like(weight))
    rounded = weight_of(layers, 2).detach().clone()
    leave_rounded(layers)
    assert torch.equal(weight_of(layers, 2), rounded)
    assert torch.equal(torch.from_numpy(store(rounded.numpy(), "int4").widened()), rounded)
    assert set(layers.state_dict()) == set(make_layers().state_dict())


def test_small_layers_stay_as_they_are() -> None:
    layers = make_layers()
    before = weight_of(layers, 3).detach().clone()
    keep_rounded(layers)
    assert torch.equal(weight_of(layers, 3), before)
