"""One encoder on OpenVINO, ready to run from several threads."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from service.errors import BackendError, BundleError, SettingsError
from service.inference.pooling import Pooler
from service.inference.priority import step_back
from service.inference.session import SENTENCES, STATES, Vectors, check_finite, graph_input
from service.inference.wishes import Precision
from service.openvino.packing import PLACES, TAKEN, leading_tokens, pack_tokens
from service.openvino.weights import fold_constants, store_weights
from service.text.tokenizer import Inputs

try:
    import openvino as ov
except ImportError as error:  # pragma: no cover - needs an environment without the extra
    raise ImportError("OpenVINO is not installed. Install it: pip install openvino.") from error

log = logging.getLogger(__name__)

_WIDTH_STEP = 8
_ROWS_STEP = 16
"""Shapes are rounded up to these: the runtime prepares kernels for each new shape, and keeps
them, so there must not be many."""

_BLOCK = 32
"""Tokens that attention adds up at once. Where the last block of a width is more than half full,
and not full, it does so in another order than in wider batches, and in 8 bits a text's vector may
come to differ by .001 from that of the same there. Such widths are rounded up to whole blocks."""

_TOKENS_RANK = 3  # [batch, tokens, width]

_GROUP = 128
"""Numbers of an activation row that share a scale in 8-bit products."""


class OpenVinoSession:
    """An encoder graph compiled by OpenVINO for the CPU.

    `run` may be called from several threads: each takes one of `streams` requests that compute on
    a thread each and share the weights; where more are called for, one more is made.

    Args:
        graph: The `.onnx` file.
        dimension: The vector width that the manifest promises.
        precision: fp32; bf16; or int8: weights and activations in 8 bits, a scale for each column
            of the weights and for each `_GROUP` numbers of a token's activations.
        streams: How many runs go on at once.
        pooler: Makes sentence vectors of the graph's token vectors; None where the graph does.
        max_tokens: Of the longest text; the graph may have no places for more. None where all
            widths do.

    Raises:
        BundleError: OpenVINO cannot run the graph.
        SettingsError: The processor does not have the precision.
    """

    providers = ("OpenVINO CPU",)
    batch_tokens = 384

    def __init__(
        self,
        graph: Path,
        *,
        dimension: int,
        precision: Precision,
        streams: int,
        pooler: Pooler | None = None,
        max_tokens: int | None = None,
    ) -> None:
        check_supported(precision)
        self.precision: Precision = precision
        self._pooler = pooler
        self._graph = graph
        self._max_tokens = max_tokens
        # OpenVINO computes on threads that it starts here, and they inherit the priority.
        with ThreadPoolExecutor(1, "openvino-compile", initializer=step_back) as stepped_back:
            made = stepped_back.submit(_compile, graph, precision, streams).result()
        compiled, self._leading = made.model, made.leading
        names = [name for port in compiled.inputs for name in sorted(port.get_names())]
        self._inputs = [name for name in names if name not in (TAKEN, PLACES)]
        self._output = _choose_output(compiled, token_vectors=pooler is not None)
        _check_width(compiled.outputs[self._output], graph, dimension, pooled=pooler is None)
        self._idle: SimpleQueue[ov.InferRequest] = SimpleQueue()
        for _ in range(streams):
            self._idle.put(compiled.create_infer_request())
        self._widened = threading.Lock()

    @property
    def pads(self) -> bool:
        """Whether padding is computed: the graph could not be packed."""
        return self._leading is None

    def run(self, inputs: Inputs) -> Vectors:
        """Return float32 [batch, dimension] for padded `inputs`: pooled, not normalised.

        Raises:
            BackendError: The runtime failed, lost texts, or a number is not finite.
        """
        width = _width(inputs["mask"].shape[1], self._leading or 0, self._max_tokens)
        rounded = {name: _widen(array, width) for name, array in inputs.items()}
        feed = {name: graph_input(name, rounded) for name in self._inputs}
        if self._leading is not None:
            feed |= packed_places(rounded["mask"], self._leading)
        with self._request() as request:
            try:
                request.infer(feed, share_inputs=True)
            except RuntimeError as error:
                raise BackendError(f"The model failed: {error}") from error
            # A view of the request's own memory: read before the request is given back.
            states = request.get_output_tensor(self._output).data
            pooler = self._pooler
            vectors = states.copy() if pooler is None else pooler(states, rounded["mask"])
        if len(vectors) != len(rounded["mask"]):
            raise BackendError(
                f"OpenVINO answers {len(vectors)} vectors for {len(rounded['mask'])} texts.",
                remedy="Serve this model with --runtime onnxruntime.",
            )
        return check_finite(vectors)

    @contextmanager
    def _request(self) -> Iterator[ov.InferRequest]:
        try:
            request = self._idle.get_nowait()
        except Empty:
            self._widen_once()
            request = self._idle.get()
        try:
            yield request
        finally:
            self._idle.put(request)

    def _widen_once(self) -> None:
        """Have one more request made, in the background: somebody found none.

        OpenVINO gives a graph no more streams than there are cores, so it is compiled again.
        """
        if self._widened.acquire(blocking=False):
            threading.Thread(target=self._widen, name="openvino-widen", daemon=True).start()

    def _widen(self) -> None:
        try:
            widened = _compile(self._graph, self.precision, 1)
            self._idle.put(widened.model.create_infer_request())
        except (BundleError, RuntimeError) as error:  # the bundle may be gone by now
            log.info("one text at a time waits for a batch: %s", error)


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A graph that is ready to run.

    Attributes:
        model: Takes `TAKEN` and `PLACES` besides, where padding is not computed.
        leading: Tokens of its own that the graph puts before each text; None where padding is
            computed.
    """

    model: ov.CompiledModel
    leading: int | None


def _compile(graph: Path, precision: Precision, streams: int) -> _Compiled:
    """Return the graph compiled, without its padding wherever that can be."""
    try:
        core = ov.Core()

        def read() -> ov.Model:
            model = core.read_model(graph)
            fold_constants(model)
            store_weights(model, precision)
            return model

        def compile_model(model: ov.Model) -> ov.CompiledModel:
            return core.compile_model(model, "CPU", properties(precision, streams))

        model = read()
        leading = leading_tokens(model)
        packed = pack_tokens(model)
        if packed is not None:
            compiled = compile_model(packed)
            if _keeps_texts_apart(compiled, leading):
                return _Compiled(compiled, leading)
        return _Compiled(compile_model(read()), None)
    except RuntimeError as error:
        raise BundleError(f"OpenVINO cannot run {graph}: {error}") from error


def _keeps_texts_apart(packed: ov.CompiledModel, leading: int) -> bool:
    """Return whether a text gives the same alone and in a batch.

    A graph may add tokens of its own elsewhere, or take some away: laid out again they would lie
    in other places than its mask tells of.
    """
    mask = np.array([[1] * _WIDTH_STEP, [1] * 3 + [0] * (_WIDTH_STEP - 3)], dtype=np.int64)
    ids = mask.cumsum(axis=1) * mask
    names = {name for port in packed.inputs for name in port.get_names()} - {TAKEN, PLACES}
    if any(len(port.get_partial_shape()) == _TOKENS_RANK for port in packed.inputs):
        ids = np.stack([ids, ids], axis=-1)  # more than one id a token
    found = []
    for rows in (slice(0, 2), slice(1, 2)):
        inputs = {"ids": ids[rows], "mask": mask[rows]}
        feed = {name: graph_input(name, inputs) for name in names}
        try:
            found.append(packed({**feed, **packed_places(mask[rows], leading)})[0])
        except RuntimeError:
            return False
    together, alone = found
    if together.shape != (2, *alone.shape[1:]):
        return False
    if alone.ndim == _TOKENS_RANK:
        together, alone = together[:, :3], alone[:, :3]
    return bool(np.allclose(together[1], alone[0], atol=0.05 * np.abs(alone).max()))


@functools.cache
def supported_precisions() -> tuple[Precision, ...]:
    """Return what this processor computes fast, the fastest first."""
    capabilities = ov.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    named: tuple[tuple[Precision, str], ...] = (("int8", "INT8"), ("bf16", "BF16"))
    return (*(name for name, flag in named if flag in capabilities), "fp32")


def check_supported(precision: Precision) -> None:
    """Raise SettingsError where the processor does not have `precision`."""
    known = supported_precisions()
    if precision not in known:
        raise SettingsError(
            "OpenVINO does not have this precision on this processor.",
            field="precision",
            given=precision,
            remedy=f"Choose one of {', '.join(known)}, or auto.",
        )


def packed_places(
    mask: npt.NDArray[np.int64], leading: int = 0
) -> dict[str, npt.NDArray[np.int64]]:
    """Return the inputs that `pack_tokens` added, for a mask int64 [batch, tokens].

    Args:
        mask: 1 for tokens, 0 for pads.
        leading: Tokens that the graph puts before each text.

    >>> packed_places(np.array([[1, 1, 0], [1, 0, 0]]))["packed_places"].tolist()
    [[0, 1, 1], [2, 2, 2]]
    """
    if leading:
        texts = mask
        mask = np.ones((len(texts), leading + texts.shape[1]), dtype=np.int64)
        mask[:, leading:] = texts
    real = np.flatnonzero(mask)
    # A text alone has its own width already: another step would only add rows to its products.
    step = _ROWS_STEP if len(mask) > 1 else _WIDTH_STEP
    taken = np.zeros(max(1, -(-len(real) // step)) * step, dtype=np.int64)
    taken[: len(real)] = real
    places = np.maximum(mask.ravel().cumsum() - 1, 0).reshape(mask.shape)
    return {TAKEN: taken, PLACES: places}


def properties(precision: Precision, streams: int) -> dict[str, Any]:
    """Return how OpenVINO is asked to compile a model."""
    bf16 = precision == "bf16" or (precision == "int8" and "bf16" in supported_precisions())
    return {
        "NUM_STREAMS": streams,
        "INFERENCE_NUM_THREADS": streams,
        "ENABLE_CPU_PINNING": False,
        "INFERENCE_PRECISION_HINT": "bf16" if bf16 else "f32",
        "DYNAMIC_QUANTIZATION_GROUP_SIZE": _GROUP if precision == "int8" else 0,
    }


def _width(tokens: int, leading: int, most: int | None) -> int:
    """Return to how many tokens, `most` of them, a batch of `tokens` is widened.

    `leading` tokens of the graph's own come before them.
    """
    rounded = -(-(tokens + leading) // _WIDTH_STEP) * _WIDTH_STEP
    if rounded % _BLOCK > _BLOCK // 2:
        rounded += -rounded % _BLOCK
    widened = rounded - leading
    return widened if most is None else max(tokens, min(widened, most))


def _widen(array: npt.NDArray[np.int64], width: int) -> npt.NDArray[np.int64]:
    texts, tokens, *features = array.shape  # of n-grams
    if width == tokens:
        return array
    widened = np.zeros((texts, width, *features), dtype=array.dtype)
    widened[:, :tokens] = array  # in a quarter of the time that np.pad takes
    return widened


def _choose_output(compiled: ov.CompiledModel, *, token_vectors: bool) -> int:
    wanted = set(STATES) if token_vectors else {SENTENCES}
    found = [n for n, port in enumerate(compiled.outputs) if port.get_names() & wanted]
    return (found or [0])[0]


def _check_width(port: ov.Output, graph: Path, dimension: int, *, pooled: bool) -> None:
    width = port.get_partial_shape()[-1]
    if pooled and width.is_static and width.get_length() != dimension:
        raise BundleError(f"{graph} gives {width} dimensions where the manifest says {dimension}.")
