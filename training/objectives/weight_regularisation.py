"""Encoder weight regularisation: small weights cannot tell languages apart."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def recurrent_weight_norm(encoders: nn.Module) -> Tensor:
    """Return the sum of squares of the weight matrices of all LSTMs within `encoders`.

    Yu, Li & Oguz 2018, section 2.2: "replacing similarity loss term with an L2 norm on the encoder
    weights", which "helps prevent the encoder from splitting its output space by source language".
    The paper does not say which weights; here token vectors and biases are left out.
    """
    squares = [
        weight.square().sum()
        for module in encoders.modules()
        if isinstance(module, nn.LSTM)
        for name, weight in module.named_parameters()
        if name.startswith("weight")
    ]
    return torch.stack(squares).sum()
