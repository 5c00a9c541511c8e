"""A bundle behind a real server: `interlingua serve` in a process of its own, asked over HTTP."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import service
from service.errors import BundleError
from service.inference.session import Vectors

START_SECONDS = 60.0
_ANSWER_SECONDS = 60.0
_URL = re.compile(r"http://127\.0\.0\.1:\d+")


@dataclass(frozen=True, slots=True)
class Served:
    """A running server.

    Attributes:
        url: Where it listens.
    """

    url: str

    def embed(self, texts: Sequence[str], *, language: str) -> Vectors:
        """Return what POST /embed answers, float32 [texts, D].

        Raises:
            BundleError: The server answers with an error.
        """
        body = json.dumps({"inputs": list(texts), "language": language}).encode()
        request = urllib.request.Request(  # noqa: S310 - our own http URL
            f"{self.url}/embed", data=body, headers={"content-type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as answer:  # noqa: S310
                vectors: Vectors = np.array(json.load(answer), dtype=np.float32)
        except urllib.error.HTTPError as error:
            with error:
                said = error.read().decode(errors="replace")
            raise BundleError(f"The server answers {error.code}: {said}") from error
        return vectors


@contextmanager
def served(bundle: Path) -> Iterator[Served]:
    """Serve `bundle` for the time of the block, on a free port and with data of its own.

    Raises:
        BundleError: The server does not start; what it said is in the message.
    """
    # The operator's own settings are no concern of a check.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("INTERLINGUA_")}
    environment["PYTHONPATH"] = str(Path(service.__file__).parents[1])
    command = [sys.executable, "-c", "from service.cli import main; main()", "serve"]
    command += ["--port", "0", "--model", str(bundle.resolve()), "--no-demo-corpus"]
    # What `Encoder` runs too; another runtime or precision has other digits.
    command += ["--workers", "1", "--log-level", "error", "--runtime", "onnxruntime"]
    with tempfile.TemporaryDirectory() as data, tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(  # noqa: S603 - our own command
            [*command, "--data", data],
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            cwd=data,
            env=environment,
        )
        watchdog = threading.Timer(START_SECONDS, process.kill)
        watchdog.start()
        try:
            assert process.stdout is not None
            found = next(filter(None, map(_URL.search, process.stdout)), None)
            watchdog.cancel()
            if found is None:
                said.seek(0)
                raise BundleError(f"The server does not start: {said.read().strip()}")
            yield Served(found.group())
        finally:
            watchdog.cancel()
            process.terminate()
            process.communicate()
