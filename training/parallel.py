"""Several processes, one device each, started by the standard launcher (`torchrun`).

Every process draws the same global batch and encodes its own part of it; `gather_rows` then gives
each the vectors of all, and each computes the same loss. Averaged over the processes, as
DistributedDataParallel does, the gradients are those of one process on the whole batch. A system
whose loss is a sum over sentences takes its part alone and divides by the global count. Without the
launcher all of this does nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import torch
from torch import Tensor, distributed
from torch.autograd.function import BackwardCFunction, FunctionCtx


def rank() -> int:
    """Return the number of this process, 0 where there is only one."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def world() -> int:
    """Return how many processes train together."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


@contextmanager
def process_group() -> Iterator[None]:
    """Join the launcher's processes for the time of the block; alone, do nothing."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield
    finally:
        distributed.destroy_process_group()


def part(size: int) -> range:
    """Return which of `size` rows are this process's."""
    share = -(-size // world())
    return range(min(size, rank() * share), min(size, (rank() + 1) * share))


class _GatherRows(torch.autograd.Function):
    """All processes' rows; backwards the sum of all processes' gradients for one's own rows."""

    @staticmethod
    def forward(_: FunctionCtx, mine: Tensor, size: int) -> Tensor:
        share = -(-size // world())
        padded = mine.new_zeros(share, mine.shape[1])
        padded[: mine.shape[0]] = mine
        parts = [torch.empty_like(padded) for _ in range(world())]
        distributed.all_gather(parts, padded)
        return torch.cat(parts)[:size]

    @staticmethod
    def backward(_: BackwardCFunction, gradient: Tensor) -> tuple[Tensor, None]:
        summed = gradient.contiguous()
        distributed.all_reduce(summed)
        own = part(summed.shape[0])
        return summed[own.start : own.stop], None


def gather_rows(mine: Tensor, size: int) -> Tensor:
    """Return the rows [size, D] of all processes, of which `mine` are those in `part(size)`."""
    if world() == 1:
        return mine
    return cast(Tensor, _GatherRows.apply(mine, size))  # type: ignore[no-untyped-call]
