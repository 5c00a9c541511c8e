"""Values that break what was not thought of."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable

_TEXTS = (
    "",
    " ",
    "a",
    "demo",
    "Guten Morgen!",
    "猫",
    "\0",
    "\ufeff",
    "\ud83d",
    "a" * 5000,
    "../..",
    "%s",
    "'; DROP TABLE documents; --",
    "<b>",
    "null",
    "NaN",
    "1e400",
    "\u202e",
    "e\u0301" * 200,
    "en",
    "xx",
    "topic",
    "interlingua-fast",
    "1",
    "true",
    "[]",
    "{}",
    "right",
    "float",
    "base64",
)
_NUMBERS = (
    0,
    1,
    -1,
    2,
    10,
    384,
    1000,
    10**6,
    2**31,
    2**53 + 1,
    2**63,
    10**30,
    0.5,
    -0.0,
    1e-300,
    1e300,
)
_NAMES = (
    "demo",
    "topic",
    "new",
    "interlingua-fast",
    "1",
    "nothing",
    "%00",
    "%2e%2e",
    "a" * 300,
    "%ff",
    "a%2Fb",
    "sentiment",
    "-",
    "%20",
    "%F0%9F%98%80",
)
_FIELDS = (
    "inputs",
    "model",
    "language",
    "dimensions",
    "corpus",
    "k",
    "filter",
    "ids",
    "vectors",
    "id",
    "text",
    "metadata",
    "documents",
    "and",
    "or",
    "not",
    "in",
    "gt",
    "normalize",
    "labels",
    "passages",
    "index",
)


class Values:
    """Values by chance.

    Args:
        chance: Where they are drawn from.
    """

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def name(self) -> str:
        """Return what may stand in a path."""
        return self._chance.choice(_NAMES)

    def header(self) -> str:
        """Return what may stand in a header."""
        texts = (
            "",
            "1",
            "0",
            "-1",
            "nan",
            "1e9",
            "Bearer x",
            "Bearer",
            "application/x-npy",
            "*/*",
            "application/x-ndjson",
            "application/octet-stream",
            "a" * 300,
            "00-1-2-3",
        )
        return self._chance.choice(texts)

    def scalar(self) -> object:
        """Return a text, a number, a truth value or nothing."""
        kind = self._chance.random()
        if kind < 0.5:
            return self._chance.choice(_TEXTS)
        if kind < 0.8:
            return self._chance.choice(_NUMBERS)
        return self._chance.choice((True, False, None))

    def any(self, depth: int = 3) -> object:
        """Return a value of any type."""
        kind = self._chance.random()
        if depth == 0 or kind < 0.5:
            return self.scalar()
        size = self._chance.choice((0, 1, 1, 2, 5))
        if kind < 0.75:
            return [self.any(depth - 1) for _ in range(size)]
        return {self._field(): self.any(depth - 1) for _ in range(size)}

    def spoilt(self, value: object) -> object:
        """Return `value` as it is, or with some of its parts changed."""
        value = copy.deepcopy(value)
        for _ in range(self._chance.choice((0, 0, 1, 1, 2, 4))):
            value = self._spoil(value)
        return value

    def damaged(self, content: bytes) -> bytes:
        """Return `content` cut, doubled, or with bytes changed."""
        changes: tuple[Callable[[], bytes], ...] = (
            lambda: content[: self._chance.randrange(len(content) + 1)],
            lambda: content * 2,
            lambda: content.replace(b'"', b"'"),
            lambda: content.replace(b":", b":[" * self._chance.choice((1, 100, 2000)), 1),
            lambda: self._flipped(content),
            lambda: b"\xef\xbb\xbf" + content,
            lambda: content.decode("latin-1").encode("utf-16"),
            lambda: self._chance.randbytes(self._chance.randrange(200)),
            lambda: b"",
        )
        return self._chance.choice(changes)()

    def _field(self) -> str:
        return self._chance.choice(_FIELDS)

    def _flipped(self, content: bytes) -> bytes:
        changed = bytearray(content)
        for _ in range(self._chance.randint(1, 5)):
            if changed:
                changed[self._chance.randrange(len(changed))] = self._chance.randrange(256)
        return bytes(changed)

    def _spoil(self, value: object) -> object:
        if isinstance(value, dict) and value and self._chance.random() < 0.85:
            name = self._chance.choice(list(value))
            if (act := self._chance.random()) < 0.15:
                del value[name]
            elif act < 0.3:
                value[self._field()] = self.any()
            else:
                value[name] = self._spoil(value[name])
            return value
        if isinstance(value, list) and value and self._chance.random() < 0.85:
            place = self._chance.randrange(len(value))
            if (act := self._chance.random()) < 0.15:
                return value * self._chance.choice((2, 100))
            if act < 0.3:
                del value[place]
            else:
                value[place] = self._spoil(value[place])
            return value
        return self.any()
