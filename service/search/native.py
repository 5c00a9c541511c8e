"""FAISS, or the word on how to install it."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import numpy.typing as npt

try:
    # As Any: the stubs that newer versions bring give C++ constructors where Python's wrappers
    # take arrays and keywords, and older versions bring none.
    faiss: Any = importlib.import_module("faiss")
except ImportError as error:  # pragma: no cover - needs an environment without the extra
    raise ImportError(
        "FAISS is not installed. Install one of the extras: "
        "pip install 'interlingua[cpu]' or, with an NVIDIA GPU, pip install 'interlingua[gpu]'."
    ) from error


def bitmap_selector(selected: npt.NDArray[np.bool_]) -> object:
    """Return what has FAISS take those of its rows for which `selected` [rows] is true."""
    return faiss.IDSelectorBitmap(np.packbits(selected, bitorder="little"))
