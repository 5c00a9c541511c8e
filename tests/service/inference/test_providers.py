from __future__ import annotations

import onnxruntime as ort
import pytest

from service.inference import providers

WITH_CUDA = ["TensorrtExecutionProvider", "CUDAExecutionProvider", "CPUExecutionProvider"]


@pytest.mark.parametrize(
    ("available", "driver", "expected"),
    [
        (WITH_CUDA, True, ("CUDAExecutionProvider", "CPUExecutionProvider")),
        (WITH_CUDA, False, ("CPUExecutionProvider",)),
        (["CPUExecutionProvider"], True, ("CPUExecutionProvider",)),
    ],
    ids=["gpu", "wheel of a gpu without one", "cpu wheel"],
)
def test_a_gpu_is_used_where_wheel_and_driver_are_there(
    monkeypatch: pytest.MonkeyPatch, available: list[str], driver: bool, expected: tuple[str, ...]
) -> None:
    monkeypatch.setattr(ort, "get_available_providers", lambda: available)
    monkeypatch.setattr(providers, "has_driver", lambda: driver)
    assert providers.best_providers() == expected


def test_a_driver_that_is_not_there_is_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "_DRIVER", "libthereisnosuchdriver.so.1")
    assert not providers.has_driver()
