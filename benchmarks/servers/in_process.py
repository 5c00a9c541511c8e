"""Compare encoders in process on all-MiniLM-L6-v2, and with the bare runtimes: the ceiling.

    python -m benchmarks.servers.in_process --environments DIR [--mixed]

Each runs in a process of its own that waits while another is measured; repeats are interleaved.
The bare runtimes get ready batches of like length and 384 tokens, on two threads.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import IO

import orjson

from benchmarks.arguments import above_zero, whole_number
from benchmarks.servers.models import WORK, prepare_models
from benchmarks.servers.peers import APPS, programs_of
from benchmarks.servers.texts import mixed_texts, short_texts
from benchmarks.serving import machine

WAYS: tuple[tuple[str, str | None, str], ...] = (
    ("interlingua:openvino:int8:64:4", None, "bundle"),
    ("interlingua:openvino:int8:1:64", None, "bundle"),
    ("interlingua:openvino:bf16:64:4", None, "bundle"),
    ("interlingua:onnxruntime:fp32:64:4", None, "bundle"),
    ("openvino:int8", None, "bundle"),
    ("openvino:bf16", None, "bundle"),
    ("openvino:fp32", None, "bundle"),
    ("onnxruntime", None, "bundle"),
    ("sentence-transformers:torch", "sentence-transformers", "minilm"),
    ("fastembed", "fastembed", "minilm"),
)
"""What, its environment, and the form of the model. Of ours: runtime, precision, texts a request,
requests at once."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=Path, default=WORK / "environments")
    parser.add_argument("--models", type=Path, default=WORK / "models")
    parser.add_argument("--mixed", action="store_true", help="5 to 200 tokens, in place of 5 to 25")
    parser.add_argument("--seconds", type=above_zero, default=2.0)
    parser.add_argument("--repeats", type=whole_number, default=5)
    parser.add_argument(
        "--only", action="extend", nargs="+", choices=[what for what, *_ in WAYS], metavar="WHAT",
        help=f"all by default: {', '.join(what for what, *_ in WAYS)}",
    )  # fmt: skip
    options = parser.parse_args()
    options.environments, options.models = options.environments.resolve(), options.models.resolve()
    prepare_models(options.models)
    texts = mixed_texts(80) if options.mixed else short_texts(400)
    print(f"machine: {machine()}; {len(texts)} {'mixed' if options.mixed else 'short'} texts")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "texts"
        file.write_bytes(b"\n".join(map(orjson.dumps, texts)))
        running = [
            (
                what,
                _start(what, programs_of(where, options.environments), options.models / form, file),
            )
            for what, where, form in WAYS
            if not options.only or what in options.only
        ]
        found: dict[str, list[float]] = {what: [] for what, _ in running}
        for _ in range(options.repeats):
            for what, process in running:
                found[what].append(_go(process, options.seconds))
        for _, process in running:
            process.kill()
            process.wait()
    for what, rates in found.items():
        middle = statistics.median(rates)
        print(f"{what:36} {middle:8,.0f} texts/s ({min(rates):,.0f} .. {max(rates):,.0f})")


def _start(what: str, programs: Path, model: Path, texts: Path) -> subprocess.Popen[bytes]:
    command = [str(programs / "python"), str(APPS / "encode_loop.py"), what, str(model), str(texts)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    while b"ready" not in (line := _pipe(process.stdout).readline()):
        if not line:
            raise SystemExit(f"{what} did not start")
    return process


def _go(process: subprocess.Popen[bytes], seconds: float) -> float:
    into = _pipe(process.stdin)
    into.write(f"{seconds}\n".encode())
    into.flush()
    return float(_pipe(process.stdout).readline())


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None, "both are pipes"
    return pipe


if __name__ == "__main__":
    main()
