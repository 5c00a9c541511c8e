"""Equal texts are computed once: those in flight together, and those asked for lately.

A vector depends on nothing but its tokens and what computes them, so these are the key: prompts,
the end that was cut and the language are in them. What is kept is bounded in bytes and forgotten
oldest first; another model or precision is another key.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future

import numpy as np

from service.inference.encoder import Tower
from service.inference.session import Vectors
from service.text.tokenizer import Tokens

Key = tuple[int, str, bytes]
Compute = Callable[[Sequence[Tokens]], Vectors]

_ENTRY_BYTES = 300
"""About what Python's objects around a kept vector take."""


class RecentVectors:
    """The vectors of texts that are computed now, and of those that were lately.

    Args:
        capacity_bytes: Of what is kept after it was computed; 0 keeps nothing.

    Attributes:
        hits: Texts that were answered from what is kept.
        misses: Texts that were not.
        shared: Texts that were computed together with an equal one.
        bytes: Of what is kept.
    """

    def __init__(self, capacity_bytes: int = 0) -> None:
        self.capacity_bytes = capacity_bytes
        self.hits = 0
        self.misses = 0
        self.shared = 0
        self.bytes = 0
        self._kept: OrderedDict[Key, Vectors] = OrderedDict()
        self._running: dict[Key, Future[Vectors]] = {}
        self._lock = threading.Lock()

    def worth(self, tower: Tower) -> bool:
        """Return whether to look: a model that only looks up vectors is as fast as this."""
        return self.capacity_bytes > 0 or tower.session.batch_tokens is not None

    def find(self, tower: Tower, tokens: Sequence[Tokens]) -> dict[int, Vectors]:
        """Return the vectors that are kept, by the position of their text in `tokens`."""
        if not self.capacity_bytes:
            return {}
        keys = [_key(tower, one) for one in tokens]
        with self._lock:
            found = {n: self._kept[key] for n, key in enumerate(keys) if key in self._kept}
            for position in found:
                self._kept.move_to_end(keys[position])
            self.hits += len(found)
            self.misses += len(keys) - len(found)
        return found

    def compute(self, tower: Tower, tokens: Sequence[Tokens], run: Compute) -> Vectors:
        """Return float32 [texts, D] of `tokens`, each different text computed once.

        A text that another thread is computing is waited for, after this thread's own are done, so
        no two threads can wait for each other.

        Args:
            tower: What computes them.
            tokens: Of each text.
            run: Computes some of them.

        Raises:
            Exception: What `run` raises.
        """
        keys = [_key(tower, one) for one in tokens]
        first: dict[Key, int] = {}
        elsewhere: dict[Key, Future[Vectors]] = {}
        with self._lock:
            for position, key in enumerate(keys):
                if key in self._running and key not in first:
                    elsewhere[key] = self._running[key]
                elif key not in first:
                    first[key] = position
                    self._running[key] = Future()
            self.shared += len(keys) - len(first)
        found = self._compute_own(tokens, first, run)
        for key, future in elsewhere.items():
            found[key] = self._await(future, tokens[keys.index(key)], run)
        return np.stack([found[key] for key in keys])

    def _compute_own(
        self, tokens: Sequence[Tokens], first: dict[Key, int], run: Compute
    ) -> dict[Key, Vectors]:
        if not first:
            return {}
        try:
            vectors = run([tokens[position] for position in first.values()])
        except BaseException as error:
            with self._lock:
                for key in first:
                    self._running.pop(key).set_exception(error)
            raise
        found = dict(zip(first, vectors, strict=True))
        with self._lock:
            for key, vector in found.items():
                self._running.pop(key).set_result(vector)
                self._keep(key, vector)
        return found

    @staticmethod
    def _await(future: Future[Vectors], tokens: Tokens, run: Compute) -> Vectors:
        try:
            return future.result()
        except BaseException:
            # What was computed with it may be at fault: this text's own job decides.
            one: Vectors = run([tokens])[0]
            return one

    def _keep(self, key: Key, vector: Vectors) -> None:
        if not self.capacity_bytes or key in self._kept:
            return
        self._kept[key] = vector.copy()  # not a row that holds its whole batch in memory
        self.bytes += _size(key, vector)
        while self.bytes > self.capacity_bytes:
            old_key, old = self._kept.popitem(last=False)
            self.bytes -= _size(old_key, old)


def _key(tower: Tower, tokens: Tokens) -> Key:
    return id(tower), tower.session.precision, np.asarray(tokens, dtype=np.int32).tobytes()


def _size(key: Key, vector: Vectors) -> int:
    return len(key[2]) + vector.nbytes + _ENTRY_BYTES
