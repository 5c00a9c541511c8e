"""What ONNX Runtime computes on: the GPU where there is one that it can use, else the CPU."""

from __future__ import annotations

import ctypes
import sys

CPU = ("CPUExecutionProvider",)
CUDA = "CUDAExecutionProvider"

_DRIVER = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"


def best_providers() -> tuple[str, ...]:
    """Return execution providers, best first.

    The wheel with CUDA (extra `gpu`) lists its provider on any machine and complains at each
    session where there is no GPU, so the driver is looked for first. TensorRT is left out: it
    compiles an engine for each new shape, and batches of text have many.
    """
    if not has_driver():
        return CPU
    import onnxruntime as ort

    return (CUDA, *CPU) if CUDA in ort.get_available_providers() else CPU


def has_driver() -> bool:
    """Return whether the driver of an NVIDIA GPU can be loaded."""
    try:
        ctypes.CDLL(_DRIVER)
    except OSError:
        return False
    return True
