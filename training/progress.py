"""Tells people how far a run is: a line rewritten on a terminal, one now and then elsewhere."""

from __future__ import annotations

import time
from typing import TextIO

_REWRITE_SECONDS = 0.2
_LINE_SECONDS = 20.0
_BAR = 24


class Progress:
    """Writes titles, notes and a progress bar to a stream.

    Args:
        stream: Where to; None says nothing.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._terminal = stream is not None and stream.isatty()
        self._begun = time.perf_counter()
        self._shown = 0.0
        self._open = False
        self._counting: tuple[str, int, float] | None = None

    def title(self, text: str) -> None:
        """Begin a stage."""
        self._line(f"[{self._elapsed()}] {text}")

    def note(self, text: str) -> None:
        """Say something that stays."""
        self._line("\n".join(f"        {line}" for line in text.splitlines()))

    def count(self, done: int, total: int, unit: str, detail: str = "") -> None:
        """Show that `done` of `total` are done, how fast it goes and how long it will take."""
        now = time.perf_counter()
        if self._counting is None or self._counting[0] != unit or self._counting[1] >= done:
            self._counting = (unit, done, now)
        last = done >= total
        if not last and now - self._shown < (_REWRITE_SECONDS if self._terminal else _LINE_SECONDS):
            return
        self._shown = now
        _, first, since = self._counting
        speed = (done - first) / max(now - since, 1e-9)
        left = _clock((total - done) / speed) if speed > 0 else "?"
        filled = _BAR * done // max(1, total)
        bar = "█" * filled + "·" * (_BAR - filled)
        text = f"        {bar} {done:,}/{total:,} {unit}, {left} left{detail}"
        if self._terminal and not last:
            self._write(f"\r\x1b[K{text}")
            self._open = True
        else:
            self._line(text)
        if last:
            self._counting = None

    def _line(self, text: str) -> None:
        self._write(("\r\x1b[K" if self._open else "") + text + "\n")
        self._open = False

    def _write(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(text)
            self._stream.flush()

    def _elapsed(self) -> str:
        return _clock(time.perf_counter() - self._begun)


QUIET = Progress()
"""Says nothing."""


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"
