"""Several processes, one device each, started by the standard launcher (`torchrun`).

Every process draws the same global batch and encodes its own part of it; `gather_rows` then gives
each the vectors of all, and each computes the same loss. Averaged over the processes, the gradients
are those of one process on the whole batch. A system whose loss is a mean over sentences or tokens
takes its part alone and multiplies by (its count x processes / global count).

Gradients are averaged here and not by DistributedDataParallel: that one does not take sparse tables
on every backend, and has to be told of parameters that a batch leaves out, which the encoders and
decoders of other languages always are. Without the launcher all of this does nothing.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import cast

import torch
from torch import Tensor, distributed, nn
from torch.autograd.function import BackwardCFunction, FunctionCtx

_PATIENCE = timedelta(days=1)
"""The others wait while the first process cleans text and makes vocabularies. One that dies is
noticed by the launcher, at once."""


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
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    distributed.init_process_group(backend, timeout=_PATIENCE)
    try:
        yield
        # The first process still writes its files, and the launcher ends it when another fails.
        distributed.barrier()
    finally:
        distributed.destroy_process_group()
    if backend == "gloo":
        atexit.register(_end_at_once)


def _end_at_once() -> None:
    """Leave without C++'s destructors: among them Gloo's aborts one process in ten or twenty."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


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


def mean_of_processes(value: Tensor) -> float:
    """Return the mean of a number over all processes; each may know only its part of a loss."""
    if world() > 1:
        value = value.detach().clone()
        distributed.all_reduce(value)
    return float(value) / world()


@contextmanager
def first_process_first() -> Iterator[None]:
    """Let the first process through the block alone, then the others.

    For what is made once and kept in a file: the others find it there. All of them come here, and
    not from within another such block.
    """
    if world() > 1 and rank() != 0:
        distributed.barrier()
    yield
    if world() > 1 and rank() == 0:
        distributed.barrier()


@torch.no_grad()
def share_weights(module: nn.Module) -> None:
    """Give all processes the weights and buffers of the first."""
    if world() > 1:
        for tensor in module.state_dict().values():
            distributed.broadcast(tensor, 0)


@torch.no_grad()
def average_gradients(parameters: Iterable[Tensor]) -> None:
    """Replace each gradient by its mean over all processes.

    A parameter without a gradient must have none in any process, which holds since all draw the
    same batches.
    """
    if world() == 1:
        return
    found = [parameter for parameter in parameters if parameter.grad is not None]
    dense = [cast(Tensor, p.grad) for p in found if not cast(Tensor, p.grad).is_sparse]
    if dense:
        joined = torch.cat([gradient.reshape(-1) for gradient in dense])
        distributed.all_reduce(joined)
        joined /= world()
        start = 0
        for gradient in dense:
            gradient.copy_(joined[start : start + gradient.numel()].view_as(gradient))
            start += gradient.numel()
    for parameter in found:
        if cast(Tensor, parameter.grad).is_sparse:
            parameter.grad = _sparse_mean(cast(Tensor, parameter.grad))


def _sparse_mean(gradient: Tensor) -> Tensor:
    """Return the mean over all processes of a gradient that is sparse in its first dimension."""
    rows, values = gradient._indices()[0], gradient._values()
    counts = [rows.new_zeros(1) for _ in range(world())]
    distributed.all_gather(counts, rows.new_tensor([len(rows)]))
    most = max(int(count) for count in counts)
    # Processes have different numbers of rows, and all of them send as many as the one with most.
    sent_rows = rows.new_zeros(most)
    sent_values = values.new_zeros(most, *values.shape[1:])
    sent_rows[: len(rows)], sent_values[: len(rows)] = rows, values
    all_rows = [torch.empty_like(sent_rows) for _ in counts]
    all_values = [torch.empty_like(sent_values) for _ in counts]
    distributed.all_gather(all_rows, sent_rows)
    distributed.all_gather(all_values, sent_values)
    kept = [int(count) for count in counts]
    joined_rows = torch.cat([part[:n] for part, n in zip(all_rows, kept, strict=True)])
    joined_values = torch.cat([part[:n] for part, n in zip(all_values, kept, strict=True)])
    summed = torch.sparse_coo_tensor(
        joined_rows[None], joined_values / world(), gradient.shape, check_invariants=False
    )
    return summed.coalesce()
