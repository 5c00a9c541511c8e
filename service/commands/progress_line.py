"""One line on the terminal that says how far a long command is."""

from __future__ import annotations

import sys
import time
from typing import Self

import click

REFRESH_SECONDS = 0.2
REFRESH_SECONDS_IN_A_FILE = 10.0


class ProgressLine:
    """Rewrites one line of stderr; where that is no terminal, adds a line now and then.

    Around a command's work, it ends the line where an error breaks it off.

    Args:
        unit: What is counted: documents.
        quiet: Whether to say nothing.
    """

    def __init__(self, unit: str, *, quiet: bool = False) -> None:
        self._unit = unit
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._pause = REFRESH_SECONDS if self._terminal else REFRESH_SECONDS_IN_A_FILE
        self._began = self._shown = time.monotonic()
        self._done = 0
        self._open = False  # whether the cursor stands behind a line that was shown

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Have the message of an error begin on a line of its own."""
        if kind is not None and self._open:
            click.echo(err=True)

    def update(self, done: int, fraction: float | None = None) -> None:
        """Say that `done` units are done, which is `fraction` (0 to 1) of all, where known."""
        self._done = done
        now = time.monotonic()
        if self._quiet or now - self._shown < self._pause:
            return
        self._shown = now
        self._write(self.text(done, fraction), end=not self._terminal)

    def finish(self, done: int | None = None) -> None:
        """Say that it is over, with `done` units, or as many as `update` was told last."""
        if not self._quiet:
            self._write(self.text(self._done if done is None else done, None), end=True)

    def note(self, text: str) -> None:
        """Print `text` to stderr, on lines of its own; also where nothing else is said."""
        self._write(text, end=True)

    def text(self, done: int, fraction: float | None) -> str:
        """Return the line: a count, a rate, a share and the time left, as far as known."""
        seconds = max(time.monotonic() - self._began, 1e-9)
        parts = [f"{done:,} {self._unit}", f"{done / seconds:,.0f} a second"]
        if fraction:
            left = int(seconds / fraction - seconds)
            parts += [f"{fraction:.0%}", f"{left // 60}:{left % 60:02d} left"]
        else:
            parts.append(f"{seconds:.1f} s")
        return "  ".join(parts)

    def _write(self, text: str, *, end: bool) -> None:
        start = "\r\x1b[K" if self._open else ""
        click.echo(start + text, err=True, nl=end)
        self._open = not end
