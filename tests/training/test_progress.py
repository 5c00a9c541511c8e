"""Progress shown to people."""

from __future__ import annotations

import io

from training.progress import Progress


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_one_line_rewritten() -> None:
    stream = _Terminal()
    progress = Progress(stream)
    progress.title("stage")
    progress.count(1, 3, "steps", ", fast")
    progress.note("a note")
    progress.count(3, 3, "steps")
    text = stream.getvalue()
    assert "\r\x1b[K" in text
    assert "1/3 steps" in text
    assert ", fast" in text
    assert text.endswith("3/3 steps, 00:00 left\n")


def test_a_file_gets_whole_lines_and_few() -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    for step in range(1, 1001):
        progress.count(step, 1000, "steps")
    lines = stream.getvalue().splitlines()
    assert "\r" not in stream.getvalue()
    assert 1 <= len(lines) <= 3
    assert "1,000/1,000" in lines[-1]


def test_quiet_says_nothing() -> None:
    Progress().title("nothing")
