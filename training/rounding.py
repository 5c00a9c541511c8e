"""Layers that are trained with the weights they will be stored with.

The forward pass computes with weights rounded to 4 bits, and the gradient goes to the weights
before rounding as if there were none (Bengio et al. 2013, Estimating or Propagating Gradients
Through Stochastic Neurons, the straight-through estimator). The scales are those that the weights
had when this began, so that a weight moves by whole steps.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from training.graphs.compressed import is_compressed
from training.graphs.static import GROUP, store

_LEAST, _MOST = -8, 7


class _Rounded(nn.Module):
    """A weight [outputs, inputs] to what 4 bits hold of it.

    Args:
        weight: As it is now.
    """

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.scales: Tensor
        stored = store(weight.detach().cpu().numpy(), "int4")
        self.register_buffer("scales", torch.from_numpy(stored.scales)[:, :, None])

    def forward(self, weight: Tensor) -> Tensor:
        rounded: Tensor = _StraightThrough.apply(weight, self.scales)  # type: ignore[no-untyped-call]
        return rounded


class _StraightThrough(torch.autograd.Function):
    """Rounding that gradients do not see."""

    @staticmethod
    def forward(_: object, weight: Tensor, scales: Tensor) -> Tensor:
        groups = weight.view(len(weight), -1, GROUP)
        steps = (groups / scales).round_().clamp_(_LEAST, _MOST)
        return steps.mul_(scales).view_as(weight)

    @staticmethod
    def backward(_: object, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0], None


def keep_rounded(module: nn.Module) -> None:
    """Have the linear layers in `module` compute with weights of 4 bits from now on."""
    for layer in _linear_layers(module):
        parametrize.register_parametrization(layer, "weight", _Rounded(layer.weight))


def leave_rounded(module: nn.Module) -> None:
    """Make the rounded weights of `module` its own, and train none of them any more."""
    for layer in _linear_layers(module):
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=True)


def _linear_layers(module: nn.Module) -> list[nn.Linear]:
    return [
        layer
        for layer in module.modules()
        if isinstance(layer, nn.Linear)
        and is_compressed(tuple(layer.weight.shape))
        and layer.in_features % GROUP == 0
    ]
