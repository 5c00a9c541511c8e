"""A vector engine as a local process: Milvus Lite's server, which speaks Milvus' protocol."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from benchmarks.drills.fleet import free_port, listening


class Engine:
    """The engine, over the data in `home`, while the block is entered."""

    def __init__(self, home: Path) -> None:
        self._port = free_port()
        self._command = [
            *(sys.executable, "-m", "milvus_lite", "server", "--host=127.0.0.1"),
            *(f"--port={self._port}", f"--data-dir={home}"),
        ]
        self.url = f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start it; return when it listens."""
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while not listening(self._port):
            if self._process.poll() is not None:
                raise SystemExit("the engine ended; is the extra milvus installed?")
            time.sleep(0.1)

    def stop(self) -> None:
        """Stop it."""
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
