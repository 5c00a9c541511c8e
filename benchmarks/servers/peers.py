"""Who is compared: how each is installed, started and asked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

APPS = Path(__file__).parent / "apps"

REQUIREMENTS: dict[str, tuple[str, ...]] = {
    "infinity": (
        "infinity-emb[server,torch,optimum]==0.0.78",
        "torch==2.13.0",
        "transformers==4.57.6",
        "optimum==2.1.0",
        "optimum-onnx[onnxruntime]==0.1.0",
        "typer==0.12.5",
        "click==8.1.8",
        "numpy<2",
    ),
    "sentence-transformers": (
        "torch==2.13.0",
        "sentence-transformers",
        "litserve",
        "fastapi",
        "uvicorn[standard]",
    ),
    "txtai": ("torch==2.13.0", "txtai[api]"),
    "fastembed": ("fastembed",),
}
"""Environment -> what is installed in it. torch is pinned so that its CPU build comes."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One server.

    Attributes:
        name: As the table shows it.
        environment: Its own, among `REQUIREMENTS`; None for the one this runs in.
        command: From the environment's folder of programs, the models' folder, the port and a
            scratch folder to what starts it.
        path: Where texts are sent.
        body: What is sent for some texts.
        variables: Of the process.
        folder: The model whose folder it is started in; None where that is the same to it.
    """

    name: str
    environment: str | None
    command: Callable[[Path, Path, int, Path], Sequence[str]]
    path: str
    body: Callable[[Sequence[str]], object]
    variables: dict[str, str] = field(default_factory=dict)
    folder: str | None = None

    def request(self, texts: Sequence[str], *, accept: str = "application/json") -> bytes:
        """Return a whole HTTP request for `texts`."""
        body = orjson.dumps(self.body(texts))
        head = (
            f"POST {self.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Accept: {accept}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


def _inputs(texts: Sequence[str]) -> object:
    return {"inputs": list(texts)}


def ours(name: str, *flags: str) -> Peer:
    """Return this checkout's server, started with `flags` too."""

    def command(programs: Path, models: Path, port: int, scratch: Path) -> Sequence[str]:
        return (
            str(programs / "interlingua"), "serve", f"--port={port}", f"--data={scratch}",
            f"--model={models / 'bundle'}", "--no-demo-corpus", *flags,
        )  # fmt: skip

    return Peer(name, None, command, "/embed", _inputs)


def _infinity(name: str, engine: str, model: str) -> Peer:
    def command(programs: Path, __: Path, port: int, _: Path) -> Sequence[str]:
        return (
            # Its ONNX engine finds a local model only from the model's own folder.
            str(programs / "infinity_emb"), "v2", "--model-id", ".",
            "--served-model-name", "minilm", "--engine", engine, "--device", "cpu",
            "--port", str(port),
        )  # fmt: skip

    quiet = {"DO_NOT_TRACK": "1", "INFINITY_ANONYMOUS_USAGE_STATS": "0"}
    body = lambda texts: {"input": list(texts), "model": "minilm"}  # noqa: E731
    return Peer(name, "infinity", command, "/embeddings", body, quiet, model)


def _app(name: str, file: str) -> Peer:
    def command(programs: Path, models: Path, port: int, _: Path) -> Sequence[str]:
        return str(programs / "python"), str(APPS / file), str(models / "minilm"), str(port)

    return Peer(name, "sentence-transformers", command, "/embed", _inputs)


def _txtai_command(programs: Path, models: Path, port: int, scratch: Path) -> Sequence[str]:
    (scratch / "txtai.yml").write_text(f"embeddings:\n  path: {models / 'minilm'}\n  gpu: false\n")
    return (
        str(programs / "python"), "-c",
        f"import os; os.environ['CONFIG'] = {str(scratch / 'txtai.yml')!r}; import uvicorn; "
        f"uvicorn.run('txtai.api:app', port={port}, log_level='warning')",
    )  # fmt: skip


PEERS: tuple[Peer, ...] = (
    ours("interlingua"),
    ours("interlingua bf16", "--precision=bf16"),
    ours("interlingua fp32", "--precision=fp32"),
    _infinity("infinity torch", "torch", "minilm"),
    _infinity("infinity onnx fp32", "optimum", "minilm-fp32"),
    _infinity("infinity onnx int8", "optimum", "minilm-int8"),
    _app("fastapi + sentence-transformers", "fastapi_app.py"),
    _app("litserve", "litserve_app.py"),
    Peer("txtai", "txtai", _txtai_command, "/batchtransform", list),
)

ECHO = Peer(
    "echo",
    None,
    lambda programs, _, port, __: (str(programs / "python"), str(APPS / "echo_app.py"), str(port)),
    "/embed",
    _inputs,
)
"""HTTP without a model: no peer, but the bound of all."""


def programs_of(environment: str | None, environments: Path) -> Path:
    """Return the folder of an environment's programs; it is made where it is not there."""
    if environment is None:
        return Path(sys.executable).parent
    folder = environments / environment
    whole = folder / "installed"  # written last: what was broken off is installed again
    if not whole.exists():
        print(f"installing {environment} in {folder}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run(
            [str(folder / "bin" / "pip"), "install", "-q", *REQUIREMENTS[environment]], check=True
        )
        whole.touch()
    return folder / "bin"
