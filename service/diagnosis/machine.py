"""The machine and what is installed on it."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib import metadata, util
from pathlib import Path

from service.hardware import available_cores

PACKAGES = (
    "interlingua", "onnxruntime", "onnxruntime-gpu", "openvino", "faiss-cpu", "faiss-gpu-cu12",
    "numpy", "tokenizers", "sentencepiece", "fastapi", "uvicorn", "uvloop", "pyarrow", "torch",
)  # fmt: skip
"""Whose versions matter to an answer; those that are not installed are left out."""

_INSTRUCTIONS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8", "asimd")


def installed_versions() -> dict[str, str]:
    """Return name -> version of what is installed of `PACKAGES`."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def execution_providers() -> list[str]:
    """Return what ONNX Runtime can compute on, the best first; empty where it is missing."""
    if util.find_spec("onnxruntime") is None:
        return []
    import onnxruntime

    # Azure's sends texts to a server elsewhere; it comes with the wheel and is never used here.
    names = [str(name) for name in onnxruntime.get_available_providers()]
    return [name for name in names if name != "AzureExecutionProvider"]


def describe_machine() -> dict[str, str]:
    """Return what the machine is, as name -> text."""
    described = {
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "processor": _processor(),
        "cores": f"{available_cores()} to use, {os.cpu_count()} in the machine",
        "memory": f"{_memory_bytes() / 2**30:.1f} GiB",
    }
    gpu = _graphics()
    return described | ({"gpu": gpu} if gpu else {})


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or "unknown"
    fields: dict[str, str] = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    flags = set((fields.get("flags") or fields.get("Features") or "").split())
    name = fields.get("model name") or platform.machine()
    return (
        f"{name} ({', '.join(flag for flag in _INSTRUCTIONS if flag in flags) or 'no SIMD seen'})"
    )


def _memory_bytes() -> int:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="utf-8").strip()
    except OSError:
        return total
    return min(total, int(limit)) if limit.isdigit() else total


def _graphics() -> str | None:
    command = shutil.which("nvidia-smi")
    if command is None:
        return None
    asked = [command, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=10, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip().replace("\n", "; ") or None
