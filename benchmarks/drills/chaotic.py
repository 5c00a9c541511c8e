"""Faults from outside a server: to its process, its files, and by its clients."""

from __future__ import annotations

import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from benchmarks.drills.fleet import ask


class Victim:
    """A server that faults are put into.

    Args:
        port: That it listens on.
        home: Where its data and its log are.
        model: A bundle of its own, that may be damaged.
    """

    def __init__(self, port: int, home: Path, model: Path) -> None:
        self.port = port
        self.data = home / "data"
        self.log = home / "log"
        self.model = model
        self._process: subprocess.Popen[str] | None = None

    def start(self, *, expect: bool = True) -> int | None:
        """Start it; return None when it is ready, or the exit code where that is `expect`ed."""
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.drills.faulty_server", str(self.port),
                 str(self.data), str(self.model)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, bufsize=1,
            )  # fmt: skip
        while ask(self.port, "/health/ready")[0] != 200:
            code = self._process.poll()
            if code is not None:
                if expect:
                    raise SystemExit(f"it ended with {code}: {self.said()}")
                return code
            time.sleep(0.02)
        return None

    def inject(self, kind: str, seconds: float) -> None:
        """Put a fault inside, and return when it is over."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{kind} {seconds}\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line == f"over {kind}\n":
                return
        raise SystemExit(f"it ended during {kind}: {self.said()}")

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it without a warning, where it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        """Ask it to end, and check that it does so cleanly."""
        assert self._process is not None
        self._process.terminate()
        code = self._process.wait(60)
        if code != 0:
            raise SystemExit(f"it ended with {code}: {self.said()}")

    def said(self) -> str:
        """Return the end of its log."""
        return self.log.read_text()[-1500:]


Outside = Callable[[Victim, random.Random], None]


def killed(victim: Victim, _: random.Random) -> None:
    """Kill -9, and started again as an orchestrator does."""
    victim.kill()
    victim.start()


def restarted(victim: Victim, _: random.Random) -> None:
    """SIGTERM under traffic, and started again."""
    victim.stop()
    victim.start()


def frozen(victim: Victim, _: random.Random) -> None:
    """The process stands still for a second, as on a machine that swaps or migrates."""
    victim.signal(signal.SIGSTOP)
    time.sleep(1.0)
    victim.signal(signal.SIGCONT)


def index_damaged(victim: Victim, chance: random.Random) -> None:
    """Bytes of the saved indexes change while it is down."""
    victim.stop()
    for file in victim.data.rglob("index.faiss"):
        content = bytearray(file.read_bytes())
        for _ in range(10):
            content[chance.randrange(len(content))] ^= 0xFF
        file.write_bytes(content)
    victim.start()


def index_gone(victim: Victim, _: random.Random) -> None:
    """The saved indexes are deleted while it is down."""
    victim.kill()
    for file in victim.data.rglob("index.faiss*"):
        file.unlink()
    victim.start()


def model_truncated(victim: Victim, _: random.Random) -> None:
    """A file of the model is cut: it must not start, and must once the file is whole."""
    _with_model_file(victim, lambda file: file.write_bytes(file.read_bytes()[:-1000]))


def model_missing(victim: Victim, _: random.Random) -> None:
    """A file of the model is gone: it must not start, and must once it is back."""
    _with_model_file(victim, Path.unlink)


def _with_model_file(victim: Victim, damage: Callable[[Path], object]) -> None:
    victim.stop()
    file = max(victim.model.iterdir(), key=lambda path: path.stat().st_size)
    whole = file.read_bytes()
    damage(file)
    code = victim.start(expect=False)
    if code != 1:
        raise SystemExit(f"it started with a damaged model, or ended with {code}")
    file.write_bytes(whole)
    victim.start()


def clients_rude(victim: Victim, chance: random.Random) -> None:
    """Connections bring what is no HTTP, or end in the middle of a request."""
    for _ in range(50):
        with suppress(OSError), socket.create_connection(("127.0.0.1", victim.port)) as rude:
            if chance.random() < 0.5:
                rude.sendall(chance.randbytes(200))
            else:
                rude.sendall(_BEGINNING)


_BEGINNING = (
    b"POST /embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    b"content-length: 500\r\n\r\n{"
)


def clients_slow(victim: Victim, _: random.Random) -> None:
    """Two hundred connections stop in the middle of their headers."""
    held = []
    for _turn in range(200):
        with suppress(OSError):
            connection = socket.create_connection(("127.0.0.1", victim.port))
            connection.sendall(b"POST /embed HTTP/1.1\r\nhost: loc")
            held.append(connection)
    time.sleep(0.5)
    for connection in held:
        connection.close()


def clients_flood(victim: Victim, _: random.Random) -> None:
    """More comes than is taken, without a pause between refusals."""
    body = b'{"inputs": [' + b",".join([b'"the cat sleeps on the warm windowsill"'] * 1000) + b"]}"
    request = (
        b"POST /embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    )
    held = []
    for _turn in range(40):
        with suppress(OSError):
            connection = socket.create_connection(("127.0.0.1", victim.port))
            connection.sendall(request)
            held.append(connection)
    for connection in held:
        connection.close()


OUTSIDE: dict[str, Outside] = {
    fault.__name__: fault
    for fault in (
        killed,
        restarted,
        frozen,
        index_damaged,
        index_gone,
        model_truncated,
        model_missing,
        clients_rude,
        clients_slow,
        clients_flood,
    )
}
