"""Checkpoints: all that a run needs to go on exactly where it was."""

from __future__ import annotations

import pickle
from pathlib import Path

import torch
from torch import Tensor

from service.errors import StorageError

LAST_FILE = "checkpoint.pt"
BEST_FILE = "best.pt"

Tree = dict[str, object]
"""Nested dictionaries and lists of tensors and plain values."""


def save_checkpoint(path: Path, content: Tree) -> None:
    """Write `content` to `path`, so that a break leaves the old file or the new one.

    Raises:
        StorageError: The disk refuses.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    staging = path.with_suffix(".tmp")
    try:
        torch.save(content, staging)
        staging.replace(path)
    except (OSError, RuntimeError) as error:  # of a full disk torch says its own
        staging.unlink(missing_ok=True)
        raise StorageError(
            f"{path} cannot be written: {error}.",
            remedy="See that the disk has room for it; the checkpoint before it is kept.",
        ) from error


def load_checkpoint(path: Path) -> Tree | None:
    """Return what was saved at `path`, or None where nothing was.

    Loaded without running code: tensors and plain values only.

    Raises:
        StorageError: The file is damaged.
    """
    if not path.exists():
        return None
    try:
        content: Tree = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, pickle.UnpicklingError, EOFError) as error:
        raise StorageError(
            f"{path} is damaged: {error}.", remedy="Delete it to begin this phase anew."
        ) from error
    return content


def random_state() -> dict[str, Tensor]:
    """Return the state of torch's random numbers."""
    state = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def set_random_state(state: dict[str, Tensor]) -> None:
    """Put torch's random numbers back to where `random_state` was taken."""
    torch.set_rng_state(state["cpu"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])
