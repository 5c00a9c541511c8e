"""Choose on what a model is run, by a short measurement on this machine.

The ways that the machine offers encode the same texts: how fast, and how near their vectors come to
those in full precision. The fastest that comes near enough is taken. Wider precisions are not tried
where a narrower one comes near and is clearly faster than full precision, since a start waits for
this. What was measured is kept beside the data, so that the next start is quick; another model,
processor or release is measured anew.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import get_args

import numpy as np
from pydantic import BaseModel, TypeAdapter, ValidationError

from service.bundle.reader import Bundle
from service.durable import replace_durably
from service.errors import BackendError, BundleError
from service.hardware import processor_name
from service.inference.encoder import Encoder
from service.inference.execution import (
    Execution,
    has_openvino,
    require_openvino,
)
from service.inference.session import Vectors
from service.inference.vectors import normalise
from service.inference.wishes import Precision, PrecisionWish, Runtime, RuntimeWish

log = logging.getLogger(__name__)

LEAST_COSINE = 0.99
"""Of any probe's vector with the one in full precision; below it a way is not chosen by itself."""

_CLEARLY_FASTER = 1.5
"""Times the texts a second of full precision: so much is no noise, and fewer bits are faster still
than more."""

_SHORT_PROBES = 24
_LONG_PROBES = 2
_FULL = Execution()


class Measured(BaseModel):
    """What one way of running a model gave on this machine.

    Attributes:
        runtime: On what it was run.
        precision: Of the products.
        texts_per_second: On one thread, of the probes.
        least_cosine: Of a probe's vector with that of ONNX Runtime in fp32.
        mean_cosine: Of all probes.
    """

    runtime: Runtime
    precision: Precision
    texts_per_second: float
    least_cosine: float
    mean_cosine: float

    @property
    def near(self) -> bool:
        """Whether it may be chosen by itself."""
        return self.least_cosine >= LEAST_COSINE


@dataclass(frozen=True, slots=True)
class Choice:
    """On what a model is run.

    Attributes:
        execution: For `Encoder`.
        measured: What was measured; empty where there was but one way.
        encoder: The model as it was measured this time; None where it was before, or never.
    """

    execution: Execution
    measured: Sequence[Measured] = ()
    encoder: Encoder | None = field(default=None, compare=False, repr=False)

    @property
    def taken(self) -> Measured | None:
        """The figures of the way that was chosen."""
        mine = (self.execution.runtime, self.execution.precision)
        return next((m for m in self.measured if (m.runtime, m.precision) == mine), None)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the operator fixed.

    Attributes:
        runtime: One, or auto.
        precision: One, or auto.
        streams: Runs at once.
        providers: ONNX Runtime's, best first.
    """

    runtime: RuntimeWish = "auto"
    precision: PrecisionWish = "auto"
    streams: int = 1
    providers: tuple[str, ...] = _FULL.providers


def choose(bundle: Bundle, wishes: Wishes, *, memory: Path | None = None) -> Choice:
    """Return how to run the model in `bundle`.

    Args:
        bundle: The model.
        wishes: What is fixed.
        memory: A file of what was measured before; read and written.

    Raises:
        SettingsError: A runtime that is not installed, or a precision that is not to be had.
        BundleError: No way that the wishes leave can run the model.
    """
    offered = ways(bundle, wishes)
    if offered == [_FULL] or [way.precision for way in offered] == ["fp32"]:
        return Choice(offered[0])
    key = _key(bundle, offered)
    known = _read(memory)
    encoder: Encoder | None = None
    if not known.get(key):
        known[key], encoder = _measure_all(bundle, offered)
        _write(memory, known)
    return Choice(_best(known[key], offered), known[key], encoder)


def ways(bundle: Bundle, wishes: Wishes) -> list[Execution]:
    """Return the ways to run `bundle` here that `wishes` leave, the plainest last.

    Raises:
        SettingsError: A runtime that is not installed, or a precision that is not to be had.
    """
    plain = Execution(streams=wishes.streams, providers=wishes.providers)
    if bundle.manifest.looks_up:  # there is nothing to gain
        return [plain]
    wants_openvino = wishes.runtime == "openvino" or wishes.precision in ("bf16", "int8")
    fixed: Sequence[Precision] = [p for p in get_args(Precision) if p == wishes.precision]
    on_gpu = plain.providers != _FULL.providers
    if wishes.runtime == "onnxruntime" or (not wants_openvino and (on_gpu or not has_openvino())):
        # Another than fp32 is refused with its reason where the session is made.
        return [replace(plain, precision=precision) for precision in fixed] or [plain]
    require_openvino()
    from service.openvino.session import check_supported, supported_precisions

    for precision in fixed:
        check_supported(precision)
    on_openvino = [
        replace(plain, runtime="openvino", precision=precision)
        for precision in fixed or supported_precisions()
    ]
    return on_openvino if wants_openvino else [*on_openvino, plain]


def _key(bundle: Bundle, ways: Sequence[Execution]) -> str:
    names = ",".join(way.name for way in ways)
    releases = f"onnxruntime {_release('onnxruntime')}, openvino {_release('openvino')}"
    return f"{bundle.manifest.identity}; {processor_name()}; {releases}; {names}"


def _release(package: str) -> str:
    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version(package)
    return "-"


def _measure_all(
    bundle: Bundle, ways: Sequence[Execution]
) -> tuple[list[Measured], Encoder | None]:
    """Return what `ways` gave, in their order up to one that is near and clearly faster.

    The encoder is that of the best way, unless it is ONNX Runtime's, which is quickly made again:
    a second model in memory meanwhile would be the larger price.
    """
    log.info("measuring on what %s runs fastest; the next start is quick", bundle.manifest.name)
    probes = _probes()
    plain = replace(ways[0], runtime="onnxruntime", precision="fp32")
    full, full_rate = _encode(Encoder(bundle, execution=plain), probes)
    found = [_measured(plain, full, full_rate, full)] if plain in ways else []
    kept: Encoder | None = None
    failed: BackendError | BundleError | None = None
    for way in ways:
        if way == plain:
            continue
        try:
            encoder = Encoder(bundle, execution=way)
            vectors, rate = _encode(encoder, probes)
        except (BackendError, BundleError) as error:
            failed = error
            log.warning("%s is left out: %s", way.name, error)
            continue
        found.append(_measured(way, vectors, rate, full))
        if _fastest(found) is found[-1]:
            kept = encoder
        if found[-1].near and rate >= _CLEARLY_FASTER * full_rate:
            break
    if not found:
        assert failed is not None, "some way was offered; this is a bug"
        raise BundleError(
            failed.message,
            field="runtime",
            given=ways[-1].runtime,
            remedy="Run it on ONNX Runtime: --runtime onnxruntime, without --precision.",
        ) from failed
    return found, kept


def _measured(way: Execution, vectors: Vectors, rate: float, full: Vectors) -> Measured:
    cosines = (vectors * full).sum(axis=1)
    return Measured(
        runtime=way.runtime,
        precision=way.precision,
        texts_per_second=round(rate, 1),
        least_cosine=round(float(cosines.min()), 5),
        mean_cosine=round(float(cosines.mean()), 5),
    )


def _encode(encoder: Encoder, probes: Sequence[str]) -> tuple[Vectors, float]:
    """Return the probes' unit vectors, and how many a second one thread makes."""
    if encoder.execution.runtime == "openvino":  # which prepares itself for each new shape
        encoder.encode(probes, normalize=False)
    began = time.perf_counter()
    vectors = encoder.encode(probes, normalize=False)
    return normalise(vectors), len(probes) / (time.perf_counter() - began)


def _probes() -> list[str]:
    """Return short and long texts of several languages, the same at every start."""
    import orjson

    from service.shipped import DEMO_CORPUS

    rows = [str(orjson.loads(line)["text"]) for line in DEMO_CORPUS.read_bytes().splitlines()]
    chosen = np.linspace(0, len(rows) - 1, _SHORT_PROBES).astype(int).tolist()
    long = [" ".join(rows[n : n + 8]) for n in chosen[:: _SHORT_PROBES // _LONG_PROBES]]
    return [rows[n] for n in chosen] + long


def _best(measured: Sequence[Measured], ways: Sequence[Execution]) -> Execution:
    by_name = {(way.runtime, way.precision): way for way in ways}
    best = _fastest(measured)
    if not best.near:
        # There was one way alone, and its operator asked for it.
        log.warning("no way comes near the vectors in full precision: %s", measured)
    return by_name[best.runtime, best.precision]


def _fastest(measured: Sequence[Measured]) -> Measured:
    """Return the fastest of those that come near, or of all where none does."""
    near = [m for m in measured if m.near]
    return max(near or measured, key=lambda m: m.texts_per_second)


_Memory = TypeAdapter(dict[str, list[Measured]])


def _read(path: Path | None) -> dict[str, list[Measured]]:
    if path is None or not path.is_file():
        return {}
    try:
        return _Memory.validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        log.warning("%s is left aside: %s", path, error)
        return {}


def _write(path: Path | None, known: dict[str, list[Measured]]) -> None:
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_durably(path, _Memory.dump_json(known, indent=2))
    except OSError as error:  # a read-only volume: it is measured again at the next start
        log.warning("%s cannot be written: %s", path, error)
