"""Constant load: so many requests a second, whatever the answers, each answer noted.

The time of an answer is counted from when its request was due: where all threads wait for slow
answers, the requests that come late for it have waited too.
"""

from __future__ import annotations

import http.client
import itertools
import json
import threading
import time
from dataclasses import dataclass, field
from typing import Self

THREADS = 16
"""Enough that a slow answer does not lower the rate of the others."""

_JSON = {"content-type": "application/json"}
_REQUESTS = (
    ("POST", "/embed", json.dumps({"inputs": "Guten Morgen!"})),
    ("GET", "/similar?corpus=demo&k=3&q=Warum+verstimmt+sich+meine+Gitarre", ""),
    ("POST", "/classify", json.dumps({"inputs": "The team won the final."})),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one request brought: the seconds since it was due, a status or an error's name."""

    seconds: float
    outcome: str

    @property
    def fine(self) -> bool:
        """Whether it was answered as asked."""
        return self.outcome == "200"


@dataclass
class Load:
    """Requests of the three kinds in turn, `rate` a second, while the block is entered.

    Args:
        port: Of the balancer or service, on this machine.
        rate: Requests a second.
        key: Sent as the header `authorization`; may be changed meanwhile.
    """

    port: int
    rate: float
    key: str | None = None
    answers: list[Answer] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._stop = threading.Event()
        self._turns = itertools.count()
        self._began = time.perf_counter()
        self._threads = [threading.Thread(target=self._client) for _ in range(THREADS)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _client(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        for turn in self._turns:  # shared by all threads: each turn is taken once
            due = self._began + turn / self.rate
            if self._stop.wait(max(0.0, due - time.perf_counter())):
                break
            outcome = self._ask(connection, turn)
            self.answers.append(Answer(time.perf_counter() - due, outcome))
        connection.close()

    def _ask(self, connection: http.client.HTTPConnection, turn: int) -> str:
        method, path, body = _REQUESTS[turn % len(_REQUESTS)]
        headers = dict(_JSON) if self.key is None else _JSON | {"authorization": self.key}
        try:
            connection.request(method, path, body or None, headers)
            response = connection.getresponse()
            response.read()
            return str(response.status)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            return type(error).__name__


def summary(answers: list[Answer]) -> str:
    """Return one line: how many, how many failed and how, and how long they took."""
    if not answers:
        return "no requests"
    failed: dict[str, int] = {}
    for answer in answers:
        if not answer.fine:
            failed[answer.outcome] = failed.get(answer.outcome, 0) + 1
    taken = sorted(answer.seconds for answer in answers)
    how = ", ".join(f"{count} x {name}" for name, count in sorted(failed.items())) or "none"
    return (
        f"{len(answers):6} requests, failed: {how}; "
        f"p50 {1000 * taken[len(taken) // 2]:.1f} ms, "
        f"p99 {1000 * taken[int(len(taken) * 0.99)]:.1f} ms, slowest {1000 * taken[-1]:.0f} ms"
    )
