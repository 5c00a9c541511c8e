"""A server process, and what the system says of it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from benchmarks.drills.fleet import ask
from benchmarks.models import FAST
from service.security.grants import Grant, write_line


class Served:
    """`interlingua serve` with `interlingua-fast` and the demo corpus, while the block is entered.

    Args:
        home: Where its data and its log are.
        port: That it listens on.
        keys: Names, which are the keys too, of the clients; none leaves it open.
        settings: Others than the defaults.
    """

    def __init__(
        self, home: Path, port: int, *, keys: tuple[str, ...] = (), **settings: str
    ) -> None:
        self.port = port
        self.log = home / "log"
        settings = {"model": str(FAST)} | settings
        self._environment = {f"INTERLINGUA_{name.upper()}": v for name, v in settings.items()}
        if keys:
            file = home / "keys"
            file.write_text("\n".join(write_line(key, Grant(key)) for key in keys) + "\n")
            self._environment["INTERLINGUA_API_KEYS_FILE"] = str(file)
        self._command = [
            str(Path(sys.executable).with_name("interlingua")), "serve",
            f"--port={port}", f"--data={home / 'data'}", "--log-level=warning",
        ]  # fmt: skip

    def __enter__(self) -> Self:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command, env=os.environ | self._environment, stdout=log, stderr=log
            )
        try:
            while ask(self.port, "/health/ready")[0] != 200:
                if self.process.poll() is not None:
                    raise SystemExit(f"the server ended: {self.log.read_text()[-500:]}")
                time.sleep(0.02)
        except BaseException:  # an interrupt too: nobody else would end it
            self.process.kill()
            self.process.wait()
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        self.process.terminate()
        code = self.process.wait(60)
        if code != 0:
            raise SystemExit(f"the server ended with {code}: {self.log.read_text()[-500:]}")

    def resident_mib(self) -> float:
        """Return its resident memory, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def handles(self) -> int:
        """Return how many files and connections it has open."""
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def threads(self) -> int:
        """Return how many threads it has."""
        return len(list(Path(f"/proc/{self.process.pid}/task").iterdir()))

    @contextmanager
    def watched_memory(self) -> Iterator[list[float]]:
        """Give a list that gets the resident memory, in MiB, twice a second."""
        seen = [self.resident_mib()]
        stop = threading.Event()

        def watch() -> None:
            while not stop.wait(0.5):
                seen.append(self.resident_mib())

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield seen
        finally:
            stop.set()
            thread.join()
