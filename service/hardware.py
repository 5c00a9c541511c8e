"""What machine this is, and how much of it is ours."""

from __future__ import annotations

import contextlib
import math
import os
import platform
from pathlib import Path

_PROCESSORS = Path("/proc/cpuinfo")
_CGROUP_V2 = Path("/sys/fs/cgroup/cpu.max")
_CGROUP_V1 = Path("/sys/fs/cgroup/cpu")


def available_cores() -> int:
    """Return how many cores this process may use: affinity and cgroup quota, at least 1.

    `os.cpu_count()` tells the host's cores, which in a container with a quota starts far too many
    threads.
    """
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    cores = affinity or os.cpu_count() or 1
    quota = _cgroup_quota()
    return max(1, min(cores, math.ceil(quota)) if quota else cores)


def processor_name() -> str:
    """Return the name of the processor's model; of its family where the system tells no more."""
    with contextlib.suppress(OSError):
        for line in _PROCESSORS.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _cgroup_quota() -> float | None:
    try:
        limit, period = _CGROUP_V2.read_text().split()
        return None if limit == "max" else int(limit) / int(period)
    except (OSError, ValueError):
        pass
    try:
        limit_us = int((_CGROUP_V1 / "cpu.cfs_quota_us").read_text())
        period_us = int((_CGROUP_V1 / "cpu.cfs_period_us").read_text())
        return limit_us / period_us if limit_us > 0 else None
    except (OSError, ValueError):
        return None
