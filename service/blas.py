"""NumPy's matrix products in one thread, as a server wants them.

OpenBLAS shares a product of more than some 260,000 multiplications among threads, one a core. Where
the cores are at work already, as the engine's are under load, it waits until the system has given
each of them a turn: 256 vectors times 7 labels took 20 ms in place of 0.1 on two busy cores. The
requests that come side by side keep all cores busy without that.
"""

from __future__ import annotations

import os
import sys

_VARIABLE = "OPENBLAS_NUM_THREADS"


def load_numpy_with_one_thread() -> None:
    """Load NumPy so that its products stay in the thread that asks for them.

    OpenBLAS reads how many threads it may have when it is loaded: where NumPy is loaded already,
    this comes too late and does nothing. The variable is set for that moment only, since FAISS has
    an OpenBLAS of its own, which builds indexes on several cores. An operator's choice stays.
    """
    if "numpy" in sys.modules or _VARIABLE in os.environ:
        return
    os.environ[_VARIABLE] = "1"
    try:
        import numpy  # noqa: F401
    finally:
        del os.environ[_VARIABLE]
