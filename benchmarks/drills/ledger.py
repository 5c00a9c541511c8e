"""Traffic that remembers what was acknowledged."""

from __future__ import annotations

import collections
import http.client
import json
import random
import threading
from typing import Self

CORPUS = "chaos"
IDS = 300
MODEL_FAILED = "urn:interlingua:problem:model-failed"


class Ledger:
    """Writers, readers and embedders on threads of their own, while the block is entered.

    Args:
        port: Of the server, on this machine.

    Attributes:
        expected: Id -> text, of what was acknowledged last; None where it was deleted.
        acknowledged: Writes and deletions that were answered with success.
        internal: Answers of 500 that were not the model's failure.
        outcomes: Status -> how many; 0 where the connection broke.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._mutex = threading.Lock()
        self._stop = threading.Event()
        self._written: dict[str, str | None] = {}
        # An id whose last write has no answer may be as before or as that write wanted it.
        self._unsure: dict[str, set[str | None]] = {}
        self.acknowledged = 0
        self.internal = 0
        self.outcomes: collections.Counter[int] = collections.Counter()

    @property
    def expected(self) -> dict[str, str]:
        """What must be there."""
        return {id: text for id, text in self._written.items() if text is not None}

    def __enter__(self) -> Self:
        self.ask("PUT", f"/corpora/{CORPUS}", {})
        # One writer an id, so that what was acknowledged last is what was written last.
        self._threads = [threading.Thread(target=self._write, args=(part,)) for part in range(3)]
        self._threads += [threading.Thread(target=self._read) for _ in range(2)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        """Return status and body of one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=40)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"content-type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()

    def works(self) -> bool:
        """Return whether the server embeds, finds and stores now."""
        done = [
            self.ask("POST", "/embed", {"inputs": ["a", "b", "c"]})[0],
            self.ask("POST", "/similar", {"inputs": "a", "corpus": CORPUS})[0],
            self.ask("POST", f"/corpora/{CORPUS}/documents",
                     {"documents": [{"id": "probe", "text": "probe"}]})[0],
        ]  # fmt: skip
        return done == [200, 200, 200]

    def summary(self) -> str:
        """Return how many answers of which status."""
        return ", ".join(f"{n} x {status}" for status, n in sorted(self.outcomes.items()))

    def compare(self) -> tuple[list[str], list[str], list[str]]:
        """Return ids that are lost or changed, deleted and back, or not found by a search."""
        there = self._everything()
        lost: list[str] = []
        undead: list[str] = []
        unfound: list[str] = []
        for id, text in self._written.items():
            if there.get(id) in ({text} | self._unsure.get(id, set())):
                continue
            (undead if text is None else lost).append(id)
        for id in there:
            body = {"ids": [id], "corpus": CORPUS, "k": 1}
            if self.ask("POST", "/similar", body)[0] != 200:
                unfound.append(id)
        status, found = self.ask("POST", "/similar", {"inputs": "x", "corpus": CORPUS, "k": 1000})
        ids = {hit["id"] for hit in json.loads(found)[0]} if status == 200 else set()
        unfound += sorted(there.keys() - ids)
        undead += sorted(ids - there.keys())
        return lost, undead, unfound

    def _everything(self) -> dict[str, str]:
        there: dict[str, str] = {}
        cursor = ""
        while True:
            _, page = self.ask("GET", f"/corpora/{CORPUS}/documents?limit=1000{cursor}")
            documents = json.loads(page)
            there |= {d["id"]: d["text"] for d in documents["documents"]}
            if documents["next_cursor"] is None:
                return there
            cursor = f"&cursor={documents['next_cursor']}"

    def _count(self, status: int, body: bytes) -> None:
        if status == 0:
            self._stop.wait(0.2)  # it is down; asking faster only makes it slower to come back
        with self._mutex:
            self.outcomes[status] += 1
            if status == 500 and MODEL_FAILED.encode() not in body:
                self.internal += 1

    def _write(self, part: int) -> None:
        chance = random.Random(part)
        number = 0
        while not self._stop.wait(0.02):
            id = f"{part}-{chance.randrange(IDS // 3)}"
            number += 1
            wanted = None if chance.random() < 0.2 else f"document {id}, writing {number}"
            if wanted is None:
                status, said = self.ask("DELETE", f"/corpora/{CORPUS}/documents/{id}")
                done = status in (204, 404)
            else:
                body = {"documents": [{"id": id, "text": wanted}]}
                status, said = self.ask("POST", f"/corpora/{CORPUS}/documents", body)
                done = status == 200
            self._count(status, said)
            if done:
                self._written[id] = wanted
                self._unsure.pop(id, None)
                with self._mutex:
                    self.acknowledged += 1
            elif status == 0:
                self._unsure.setdefault(id, set()).add(wanted)

    def _read(self) -> None:
        texts = [f"text {n} of several" for n in range(20)]
        while not self._stop.wait(0.02):
            self._count(*self.ask("POST", "/embed", {"inputs": texts}))
            self._count(*self.ask("POST", "/similar", {"inputs": texts[:2], "corpus": CORPUS}))
