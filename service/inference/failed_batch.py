"""What is done with a batch that failed."""

from __future__ import annotations

from collections.abc import Sequence

from service.errors import BackendError, InterlinguaError
from service.inference.work import Slice


def halves(batch: Sequence[Slice]) -> tuple[list[Slice], list[Slice]]:
    """Return a batch of two texts or more in two parts, neither empty."""
    if len(batch) > 1:
        middle = len(batch) // 2
        return list(batch[:middle]), list(batch[middle:])
    (piece,) = batch
    middle = len(piece.rows) // 2
    return [Slice(piece.job, piece.rows[:middle])], [Slice(piece.job, piece.rows[middle:])]


def as_backend_error(error: Exception) -> InterlinguaError:
    """Return what a client is told of a failed batch."""
    if isinstance(error, InterlinguaError):
        return error
    if isinstance(error, MemoryError):
        return BackendError("There is too little memory for this text.", remedy="Shorten it.")
    return BackendError(f"The model failed: {error}")
