"""On what an encoder is run, and in which precision."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from service.errors import SettingsError
from service.inference.pooling import Pooler
from service.inference.providers import CPU
from service.inference.session import Session
from service.inference.wishes import Precision, Runtime


@dataclass(frozen=True, slots=True)
class Execution:
    """How graphs are run.

    Attributes:
        runtime: ONNX Runtime, which is always there, or OpenVINO (extra `openvino`).
        precision: Of the products; ONNX Runtime computes in the graph's own.
        streams: Runs that go on at once, a thread each.
        providers: ONNX Runtime's, best first.
    """

    runtime: Runtime = "onnxruntime"
    precision: Precision = "fp32"
    streams: int = 1
    providers: tuple[str, ...] = CPU

    @property
    def name(self) -> str:
        """Both choices in a word."""
        return f"{self.runtime}-{self.precision}"


def open_session(
    graph: Path,
    *,
    dimension: int,
    execution: Execution,
    pooler: Pooler | None,
    looks_up: bool = False,
    max_tokens: int | None = None,
) -> Session:
    """Return a session over `graph`.

    Args:
        graph: The `.onnx` file.
        dimension: The vector width that the manifest promises.
        execution: On what it runs.
        pooler: Makes sentence vectors of the graph's token vectors; None where the graph does.
        looks_up: Whether it multiplies by no matrix.
        max_tokens: Of the longest text that will come; None where any may.

    Raises:
        BundleError: The graph cannot be run.
        SettingsError: The runtime is not installed, or lacks the precision.
    """
    if execution.runtime == "onnxruntime":
        if execution.precision != "fp32":
            raise SettingsError(
                "ONNX Runtime computes in the graph's own precision: its 8-bit products would make "
                "a vector depend on what shares its batch.",
                field="precision",
                given=execution.precision,
                remedy="Choose the runtime openvino, or the precision fp32 or auto.",
            )
        from service.inference.onnx_session import EncoderSession

        return EncoderSession(
            graph,
            dimension=dimension,
            providers=execution.providers,
            pooler=pooler,
            looks_up=looks_up,
        )
    require_openvino()
    from service.openvino.session import OpenVinoSession

    return OpenVinoSession(
        graph,
        dimension=dimension,
        precision=execution.precision,
        streams=execution.streams,
        pooler=pooler,
        max_tokens=max_tokens,
    )


def has_openvino() -> bool:
    """Return whether OpenVINO is installed."""
    return importlib.util.find_spec("openvino") is not None


def require_openvino() -> None:
    """Raise SettingsError where OpenVINO is not installed."""
    if not has_openvino():
        raise SettingsError(
            "OpenVINO is not installed.",
            field="runtime",
            given="openvino",
            remedy="pip install openvino, or choose onnxruntime or auto.",
        )
