"""One ONNX graph on ONNX Runtime, ready to run.

A module of its own, since a server whose models run on another runtime does without the 0.1 s and
20 MB that importing this one takes.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from service.errors import BackendError, BundleError
from service.inference.pooling import Pooler
from service.inference.providers import CPU
from service.inference.session import (
    INPUTS,
    SENTENCES,
    STATES,
    Vectors,
    check_finite,
    graph_input,
)
from service.text.tokenizer import Inputs

try:
    import onnxruntime as ort
except ImportError as error:  # pragma: no cover - needs an environment without the extra
    raise ImportError(
        "ONNX Runtime is not installed. Install one of the extras: "
        "pip install 'interlingua[cpu]' or, with an NVIDIA GPU, pip install 'interlingua[gpu]'."
    ) from error

_CPU_BATCH_TOKENS = 256
"""What a processor's caches hold the activations of; with 4,096, MiniLM takes twice the time."""

_FULL_PRECISION = ("session.qdq_matmulnbits_accuracy_level", "1")
"""Weights that are stored in 4 bits are multiplied in fp32; by itself ONNX Runtime takes 8 bits."""


class EncoderSession:
    """An ONNX Runtime session over one encoder graph.

    `run` may be called from several threads at once: they share the weights, and each call
    computes on its own thread alone. Two one-thread runs side by side beat one run on two threads,
    since no run waits for another's slowest thread.

    Args:
        graph: The `.onnx` file.
        dimension: The vector width that the manifest promises.
        providers: ONNX Runtime execution providers, best first.
        pooler: Makes sentence vectors of the graph's token vectors; None where the graph does.
        looks_up: The graph looks vectors up and adds them: the larger a batch the better.

    Raises:
        BundleError: Not an ONNX graph, or its inputs and outputs are not those of an encoder.
    """

    precision: ClassVar[str] = "fp32"
    pads: ClassVar[bool] = True
    batch_tokens: int | None = None
    providers: tuple[str, ...] = ()

    def __init__(
        self,
        graph: Path,
        *,
        dimension: int,
        providers: tuple[str, ...] = CPU,
        pooler: Pooler | None = None,
        looks_up: bool = False,
    ) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # The arena keeps the largest batch ever seen; batches are small here, and memory is not.
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        options.add_session_config_entry(*_FULL_PRECISION)
        try:
            self._session = ort.InferenceSession(graph, options, providers=list(providers))
        except Exception as error:  # ONNX Runtime's exceptions share no public base
            raise BundleError(f"{graph} cannot be loaded: {error}") from error
        self.providers = tuple(self._session.get_providers())
        if self.providers == CPU and not looks_up:
            self.batch_tokens = _CPU_BATCH_TOKENS
        self._pooler = pooler
        self._inputs = tuple(node.name for node in self._session.get_inputs())
        self._output = self._choose_output()
        self._check_inputs(graph)
        if pooler is None:
            self._check_outputs(graph, dimension)

    def _choose_output(self) -> str | None:
        """Return the name of what is wanted among the outputs; None for all."""
        names = [str(node.name) for node in self._session.get_outputs()]
        if self._pooler is None:
            return SENTENCES if SENTENCES in names else None
        return next((name for name in names if name in STATES), names[0])

    def _check_inputs(self, graph: Path) -> None:
        for node in self._session.get_inputs():
            if node.name not in INPUTS:
                raise BundleError(
                    f"{graph} wants an input {node.name!r}, which no text has.",
                    remedy="Export it for feature extraction, without past keys and values.",
                )
            if len(node.shape) < 2 or any(isinstance(size, int) for size in node.shape[:2]):
                raise BundleError(
                    f"{graph}: input {node.name!r} has shape {node.shape}; batch and tokens "
                    "must be dynamic.",
                    remedy="Export it again with dynamic axes.",
                )

    def _check_outputs(self, graph: Path, dimension: int) -> None:
        outputs = [o for o in self._session.get_outputs() if self._output in (None, o.name)]
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
        wanted = None if self._output is None else [self._output]
        try:
            (vectors,) = self._session.run(wanted, self._feed(inputs))
        except Exception as error:  # ONNX Runtime's exceptions share no public base
            raise BackendError(f"The model failed: {error}") from error
        result: Vectors = vectors
        if self._pooler is not None:
            result = self._pooler(vectors, inputs["mask"])
        return check_finite(result)

    def _feed(self, inputs: Inputs) -> Inputs:
        """Return the arrays by the graph's own names, with those that follow from the others."""
        return {name: graph_input(name, inputs) for name in self._inputs}


def output_shapes(graph: Path) -> dict[str, list[int | None]]:
    """Return the shape of each of a graph's outputs, with None for what is not fixed.

    Raises:
        BundleError: It is no ONNX graph.
    """
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = ort.InferenceSession(graph, options, providers=list(CPU))
    except Exception as error:  # ONNX Runtime's exceptions share no public base
        raise BundleError(f"{graph} cannot be loaded: {error}") from error
    return {
        node.name: [size if isinstance(size, int) else None for size in node.shape]
        for node in session.get_outputs()
    }
