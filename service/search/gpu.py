"""Exact search on a GPU, where FAISS has one: the same scores, from a copy of the flat vectors.

What it does not do is the CPU's: filters and marked rows (FAISS has no selectors on GPUs), more
neighbours than a GPU ranks, and clusters, whose 4-bit codes FAISS reads on CPUs alone. A GPU that
fails is not asked again, and says so in the log.
"""

from __future__ import annotations

import logging
import threading
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from service.errors import SettingsError
from service.inference.session import Vectors
from service.search.native import faiss

SearchDevice: TypeAlias = Literal["auto", "cpu", "gpu"]

GPU_ROWS = 20_000
"""From so many vectors on the way to the GPU and back is worth it."""

MOST_NEIGHBOURS = 2_048
"""That FAISS ranks on a GPU."""

_log = logging.getLogger(__name__)


class GpuCopy:
    """The vectors of one flat index on the first GPU; threads may search side by side."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()  # FAISS' resources serve one thread at a time
        self._resources: Any = None
        self._index: Any = None
        self._broken = False

    def search(
        self,
        flat: Any,  # noqa: ANN401 - FAISS has no types
        queries: Vectors,
        k: int,
    ) -> tuple[Vectors, npt.NDArray[np.int64]] | None:
        """Return scores and rows, both [queries, k], best first; None where the CPU is to do it.

        Args:
            flat: The index on the CPU, which nobody changes meanwhile.
            queries: float32 [queries, dimension].
            k: At most as many as `flat` has rows.
        """
        if self._broken or flat.ntotal < GPU_ROWS or k > MOST_NEIGHBOURS:
            return None
        with self._mutex:
            try:
                self._follow(flat)
                scores, rows = self._index.search(queries, k)
            except Exception as error:
                self._broken = True
                self._index = self._resources = None
                _log.warning("The GPU cannot search: %s. The CPU does it from now on.", error)
                return None
        return scores, rows

    def forget(self) -> None:
        """Copy all rows anew at the next search: some were taken out or got other numbers."""
        with self._mutex:
            self._index = None

    def _follow(self, flat: Any) -> None:  # noqa: ANN401 - as above
        if self._index is None:
            self._resources = self._resources or faiss.StandardGpuResources()
            self._index = faiss.index_cpu_to_gpu(self._resources, 0, flat)
            return
        there = self._index.ntotal
        if there < flat.ntotal:
            self._index.add(flat.reconstruct_n(there, flat.ntotal - there))


def gpu_wanted(device: SearchDevice) -> bool:
    """Return whether to search on a GPU; where one was asked for and there is none, say why.

    Raises:
        SettingsError: `gpu`, and FAISS was built without or sees none.
    """
    if device == "cpu":
        return False
    built = hasattr(faiss, "StandardGpuResources")
    there = faiss.get_num_gpus() if built and hasattr(faiss, "get_num_gpus") else 0
    if there:
        _log.info("Exact search of %d vectors or more is the GPU's.", GPU_ROWS)
        return True
    if device == "gpu":
        raise SettingsError(
            "FAISS sees no GPU." if built else "FAISS is installed without GPUs.",
            field="search_device",
            given=device,
            remedy="Check nvidia-smi in the same container, or set it to auto."
            if built
            else "pip uninstall faiss-cpu, then pip install 'interlingua[gpu]'; or set it to auto.",
        )
    return False
