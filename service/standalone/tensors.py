"""Vectors as tensors, for those who have torch and ask for them; nothing else here needs it."""

from __future__ import annotations

import importlib
from typing import Any, TypeAlias

import numpy as np

from service.errors import InputError
from service.inference.formats import Formatted

Tensor: TypeAlias = Any
"""Of torch, which is no dependency."""


def tensor_of(vectors: Formatted) -> Tensor:
    """Return `vectors` as a tensor of the same shape and type.

    Raises:
        InputError: torch is not installed.
    """
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        raise InputError(
            "A tensor needs torch, which is not installed.",
            field="convert_to_tensor",
            given=True,
            remedy="Take arrays, or pip install torch.",
        ) from error
    return torch.from_numpy(np.ascontiguousarray(vectors))
