"""Progress, and what is printed beside it."""

from __future__ import annotations

import io
import sys

import pytest

from service.commands import progress_line
from service.commands.progress_line import ProgressLine


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Have standard error be a terminal, from inside a test: pytest replaces it in between."""
    stream = _Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress_line, "REFRESH_SECONDS", 0.0)
    return stream


def shown(terminal: io.StringIO) -> list[str]:
    """Return the lines as they stand in the end."""
    return [line.rpartition("\r\x1b[K")[2] for line in terminal.getvalue().split("\n")]


def test_a_note_takes_the_place_of_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    progress = ProgressLine("documents")
    progress.update(1)
    progress.note("record 2: no text")
    progress.update(3)
    progress.finish()
    note, last, end = shown(terminal)
    assert note == "record 2: no text"
    assert last.startswith("3 documents")
    assert end == ""


def test_an_error_begins_on_a_line_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)

    def breaks_off() -> None:
        with ProgressLine("documents") as progress:
            progress.update(1)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        breaks_off()
    assert terminal.getvalue().endswith("\n")


def test_what_is_quiet_has_notes_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with ProgressLine("documents", quiet=True) as progress:
        progress.update(1)
        progress.note("record 2: no text")
        progress.finish()
    assert terminal.getvalue() == "record 2: no text\n"
