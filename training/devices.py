"""Which device trains, with how many threads, in which precision."""

from __future__ import annotations

import os

import torch

from service.hardware import available_cores, processor_name


def pick_device() -> torch.device:
    """Return the GPU where there is one, else the CPU with a thread a core that is ours.

    Processes that the launcher started on this machine share its cores.
    """
    if torch.cuda.is_available():
        return torch.device("cuda", torch.cuda.current_device())
    sharing = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    torch.set_num_threads(max(1, available_cores() // sharing))
    return torch.device("cpu")


def has_fast_bf16() -> bool:
    """Return whether this CPU multiplies bf16 in hardware; elsewhere bf16 is slower than fp32."""
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def fast_dtype(device: torch.device) -> torch.dtype:
    """Return the type in which `device` multiplies fastest: bfloat16 where hardware has it."""
    fast = device.type == "cuda" or has_fast_bf16()
    return torch.bfloat16 if fast else torch.float32


def describe_machine() -> str:
    """Return cores, processor and GPU, for the record of a run."""
    cores = available_cores()
    described = f"{cores} core{'s' if cores > 1 else ''} of {processor_name()}"
    if torch.cuda.is_available():
        described += f", {torch.cuda.get_device_name()}"
    return described
