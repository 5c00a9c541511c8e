"""Threads that compute batches step back behind those that answer."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

NICENESS = 3
"""Linux gives such a thread half of what one at 0 gets, where both want the core."""


def step_back() -> None:
    """Lower the priority of the calling thread, and of those that it starts from now on.

    A batch loses nothing: what it waits for is short. A short text, the event loop and the
    tokenizers gain the time slices that they would wait for. Only Linux has it a thread.
    """
    if sys.platform == "linux":
        own = os.getpriority(os.PRIO_PROCESS, 0)
        with suppress(OSError):  # a sandbox that refuses it costs the order, not the thread
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), min(19, own + NICENESS))
