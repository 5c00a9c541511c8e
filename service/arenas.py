"""Keep the C library from holding memory: for each thread, and what a start needed."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys

_M_ARENA_MAX = -8  # malloc.h


def use_one_arena() -> None:
    """Have all threads allocate from one place, unless `MALLOC_ARENA_MAX` says otherwise.

    glibc gives up to eight arenas a core to the threads that allocate at the same time, and what
    one has freed no other uses. Under bursts the process grew by 1 MB a minute; with one arena it
    does not grow, is a quarter smaller, and as fast. Other C libraries have no such thing.
    """
    if "MALLOC_ARENA_MAX" not in os.environ:
        _ask("mallopt", _M_ARENA_MAX, 1)


def return_freed_memory() -> None:
    """Give what was freed back to the system; the C library keeps it for what may come.

    Opening a model needs several times its size for a moment: its graph is read, its weights are
    put in the form in which they are multiplied. Libraries other than glibc have no such call.
    """
    _ask("malloc_trim", 0)


def _ask(function: str, *arguments: int) -> None:
    """Call a function of the C library, where it has it."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            getattr(ctypes.CDLL(None), function)(*arguments)
