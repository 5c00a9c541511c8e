"""What is wrong, or could be better, with what to do about it."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias

from service.classification.head import read_head
from service.diagnosis.machine import execution_providers, installed_versions
from service.errors import BundleError, InterlinguaError, SettingsError
from service.huggingface.bundle import read_model
from service.security.exposure import asks_for_keys, check_exposure, is_loopback
from service.settings import Settings

Level: TypeAlias = Literal["error", "advice"]

_LITTLE_DISK_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to change.

    Attributes:
        level: error: the server will not start, or not work. advice: it could be better.
        what: Is the matter.
        remedy: What to do.
    """

    level: Level
    what: str
    remedy: str


def find(settings: Settings) -> list[Finding]:
    """Look at everything that a start would trip over, and return what was found."""
    checks: tuple[Callable[[Settings], Iterator[Finding]], ...] = (
        _runtimes, _models, _speed, _data, _address, _safety, _asked_for,
    )  # fmt: skip
    return [finding for check in checks for finding in check(settings)]


def _runtimes(_: Settings) -> Iterator[Finding]:
    for module, extra in (("onnxruntime", "onnxruntime"), ("faiss", "faiss-cpu")):
        if find_spec(module) is None:
            remedy = "Install it: pip install 'interlingua[cpu]'."
            yield Finding("error", f"{extra} is missing.", remedy)
    versions = installed_versions()
    for pair in (("onnxruntime", "onnxruntime-gpu"), ("faiss-cpu", "faiss-gpu-cu12")):
        if all(name in versions for name in pair):
            what = f"{' and '.join(pair)} are both installed and overwrite each other."
            yield Finding("error", what, f"Uninstall both, then install one of them: {pair[0]}.")
    if shutil.which("nvidia-smi") and "CUDAExecutionProvider" not in execution_providers():
        remedy = "In a new environment: pip install 'interlingua[gpu]'."
        yield Finding("advice", "There is a GPU, and ONNX Runtime cannot use it.", remedy)


def _models(settings: Settings) -> Iterator[Finding]:
    readers: tuple[tuple[list[Path], Callable[[Path], object]], ...] = (
        (settings.model, read_model),
        (settings.head, read_head),
    )
    for directories, read in readers:
        for directory in directories:
            try:
                read(directory)
            except InterlinguaError as error:
                yield Finding("error", error.message, error.remedy or f"Look into {directory}.")


def _speed(settings: Settings) -> Iterator[Finding]:
    on_gpu = "CUDAExecutionProvider" in execution_providers()
    if settings.runtime != "auto" or on_gpu or find_spec("openvino") is not None:
        return
    for directory in settings.model:
        with suppress(InterlinguaError):
            manifest = read_model(directory).manifest
            if not manifest.looks_up:
                what = f"{manifest.name} may be faster on OpenVINO, which is not installed."
                yield Finding("advice", what, "Install it: pip install openvino.")


def _data(settings: Settings) -> Iterator[Finding]:
    there = next(path for path in (settings.data, *settings.data.parents) if _is_there(path))
    if not there.is_dir():
        remedy = "Choose a directory with --data."
        yield Finding("error", f"{there} is a file, and no directory for data.", remedy)
    elif not os.access(there, os.W_OK):
        remedy = "Make it writable, or choose another with --data."
        yield Finding("error", f"{there} cannot be written to.", remedy)
    free = shutil.disk_usage(there).free
    if free < _LITTLE_DISK_BYTES:
        what = f"{free / 2**20:.0f} MiB are free where the data lie ({there})."
        yield Finding("advice", what, "Free some, or choose another disk with --data.")


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except PermissionError:  # its parent, which may not be looked into, says what is wrong
        return False


def _asked_for(settings: Settings) -> Iterator[Finding]:
    """Look for what only some settings need, as a start does."""
    for look in (_search_device, _token_input, _vector_engine, _execution, _traces):
        try:
            look(settings)
        except InterlinguaError as error:
            yield Finding("error", error.message, error.remedy or "")


def _search_device(settings: Settings) -> None:
    if settings.search_device == "gpu" and find_spec("faiss") is not None:
        from service.search.gpu import gpu_wanted

        gpu_wanted("gpu")


def _token_input(settings: Settings) -> None:
    from service.api.token_input import prepare_decoding

    prepare_decoding(settings.token_input)


def _vector_engine(settings: Settings) -> None:
    if not settings.vector_engine:
        return
    from service.milvus.client import connect, require_client

    require_client(settings.vector_engine)
    if "://" in settings.vector_engine:  # the embedded one would be started
        token = settings.vector_engine_token
        connect(
            settings.vector_engine, token=None if token is None else token.get_secret_value()
        ).close()


def _execution(settings: Settings) -> None:
    if find_spec("onnxruntime") is None:
        return
    from service.inference.choosing import Wishes, ways
    from service.inference.providers import best_providers

    wishes = Wishes(settings.runtime, settings.precision, settings.workers, best_providers())
    for directory in settings.model:
        with suppress(BundleError):  # said already
            ways(read_model(directory), wishes)


def _traces(_: Settings) -> None:
    from service.telemetry.traces import traces_from_environment

    traces_from_environment("").close()


def _address(settings: Settings) -> Iterator[Finding]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            what = f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}."
            remedy = "Is it running already? Choose another port with --port."
            yield Finding("error", what, remedy)


def _safety(settings: Settings) -> Iterator[Finding]:
    try:
        check_exposure(settings)
    except SettingsError as error:
        yield Finding("error", error.message, error.remedy or "")
    if not (is_loopback(settings.host) or asks_for_keys(settings)) and settings.open_to_network:
        what = f"The server listens on {settings.host} and asks for no key."
        yield Finding("advice", what, "Set INTERLINGUA_API_KEYS, or put a proxy before it.")
