from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from service.bundle.manifest import Pooling
from service.errors import BundleError
from service.inference.pooling import Pooler, read_dense_layer

STATES = np.array([[[1, 2], [3, -4], [9, 9]], [[5, 6], [7, 8], [-1, 0]]], dtype=np.float32)
MASK = np.array([[1, 1, 0], [1, 1, 1]])


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        ("mean", [[2, -1], [11 / 3, 14 / 3]]),
        ("cls", [[1, 2], [5, 6]]),
        ("max", [[3, 2], [7, 8]]),
        ("last", [[3, -4], [-1, 0]]),
    ],
)
def test_by_hand(pooling: Pooling, expected: list[list[float]]) -> None:
    np.testing.assert_allclose(Pooler(pooling)(STATES, MASK), expected, rtol=1e-6)


@pytest.mark.parametrize("pooling", ["mean", "cls", "max", "last"])
def test_a_text_without_tokens_is_zero(pooling: Pooling) -> None:
    pooled = Pooler(pooling)(STATES, np.array([[0, 0, 0], [1, 0, 0]]))
    np.testing.assert_array_equal(pooled, [[0, 0], [5, 6]])


def test_dense_layers_follow_in_order(tmp_path: Path) -> None:
    weight = np.array([[1, 1]], dtype=np.float32)
    save_file({"weight": weight, "bias": np.array([-3], dtype=np.float32)}, tmp_path / "a")
    save_file({"linear.weight": np.array([[2], [0]], dtype=np.float32)}, tmp_path / "b")
    layers = [
        read_dense_layer(tmp_path / "a", "tanh"),
        read_dense_layer(tmp_path / "b", "identity"),
    ]
    pooled = Pooler("cls", layers)(STATES, MASK)
    np.testing.assert_allclose(pooled, [[0, 0], [2 * np.tanh(8), 0]], atol=1e-6)


def test_a_dense_layer_may_follow_a_normalisation(tmp_path: Path) -> None:
    save_file(
        {"weight": np.eye(2, dtype=np.float32), "bias": np.array([1, 1], dtype=np.float32)},
        tmp_path / "dense",
    )
    layer = read_dense_layer(tmp_path / "dense", "identity", of_unit=True)
    np.testing.assert_allclose(layer(np.array([[3, 4]], dtype=np.float32)), [[1.6, 1.8]])


def test_a_file_without_weights_is_named(tmp_path: Path) -> None:
    save_file({"bias": np.zeros(1, dtype=np.float32)}, tmp_path / "a")
    with pytest.raises(BundleError, match="no dense layer"):
        read_dense_layer(tmp_path / "a", "tanh")
