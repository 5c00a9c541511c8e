"""Encoder weight regularisation."""

from __future__ import annotations

import numpy as np
import pytest

from training.encoders.recurrent import RecurrentEncoder, blstm_layers, lstm_layers, token_vectors
from training.objectives.weight_regularisation import recurrent_weight_norm


def test_it_is_the_sum_of_squares_of_all_matrices() -> None:
    encoder = RecurrentEncoder(token_vectors(9, 3), [*blstm_layers(3, 2, 1), *lstm_layers(4, 5, 1)])
    matrices = [
        value.detach().double().numpy()
        for name, value in encoder.named_parameters()
        if "weight_ih" in name or "weight_hh" in name
    ]
    assert len(matrices) == 6  # two directions below, one above, two matrices each
    expected = sum(np.square(matrix).sum() for matrix in matrices)
    found = recurrent_weight_norm(encoder)
    assert float(found.detach()) == pytest.approx(float(expected), rel=1e-6)
    found.backward()  # type: ignore[no-untyped-call]
    assert encoder.embedding.weight.grad is None
