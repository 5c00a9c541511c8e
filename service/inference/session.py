"""One ONNX graph, ready to run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from service.errors import BackendError, BundleError
from service.text.tokenizer import Inputs

try:
    import onnxruntime as ort
except ImportError as error:  # pragma: no cover - needs an environment without the extra
    raise ImportError(
        "ONNX Runtime is not installed. Install one of the extras: "
        "pip install 'interlingua[cpu]' or, with an NVIDIA GPU, pip install 'interlingua[gpu]'."
    ) from error

Vectors = npt.NDArray[np.float32]
"""float32 [batch, dimension]."""


class EncoderSession:
    """An ONNX Runtime session over one encoder graph.

    `run` may be called from several threads at once: they share the weights, and each call
    computes on its own thread alone. Two one-thread runs side by side beat one run on two threads,
    since no run waits for another's slowest thread.

    Args:
        graph: The `.onnx` file.
        dimension: The vector width that the manifest promises.
        providers: ONNX Runtime execution providers, best first.

    Raises:
        BundleError: Not an ONNX graph, or its inputs and outputs are not those of an encoder.
    """

    def __init__(
        self,
        graph: Path,
        *,
        dimension: int,
        providers: tuple[str, ...] = ("CPUExecutionProvider",),
    ) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # The arena keeps the largest batch ever seen; batches are small here, and memory is not.
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        try:
            self._session = ort.InferenceSession(graph, options, providers=list(providers))
        except Exception as error:  # ONNX Runtime's exceptions share no public base
            raise BundleError(f"{graph} cannot be loaded: {error}") from error
        self.providers: tuple[str, ...] = tuple(self._session.get_providers())
        self._inputs = tuple(node.name for node in self._session.get_inputs())
        self._check_shapes(graph, dimension)

    def _check_shapes(self, graph: Path, dimension: int) -> None:
        for node in self._session.get_inputs():
            if len(node.shape) < 2 or any(isinstance(size, int) for size in node.shape[:2]):
                raise BundleError(
                    f"{graph}: input {node.name!r} has shape {node.shape}; batch and tokens "
                    "must be dynamic.",
                    remedy="Export it again with dynamic axes.",
                )
        outputs = self._session.get_outputs()
        if len(outputs) != 1 or len(outputs[0].shape) != 2:
            raise BundleError(
                f"{graph} gives {[o.name for o in outputs]}; one output [batch, dimension] is due."
            )
        width = outputs[0].shape[1]
        if isinstance(width, int) and width != dimension:
            raise BundleError(
                f"{graph} gives {width} dimensions where the manifest says {dimension}."
            )

    def run(self, inputs: Inputs) -> Vectors:
        """Return float32 [batch, dimension] for padded `inputs`: pooled, not normalised.

        Raises:
            BackendError: The runtime failed, or a number is not finite.
        """
        try:
            (vectors,) = self._session.run(None, {name: inputs[name] for name in self._inputs})
        except Exception as error:  # ONNX Runtime's exceptions share no public base
            raise BackendError(f"The model failed: {error}") from error
        result: Vectors = vectors
        if not np.isfinite(result).all():
            raise BackendError("The model returned numbers that are not finite.")
        return result
