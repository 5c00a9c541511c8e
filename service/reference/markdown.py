"""The little Markdown that the made pages need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MADE = "<!-- Made by `make reference`; change the code, not this file. -->"


def page(title: str, *parts: str) -> str:
    """Return a page: title, where it comes from, its parts."""
    return "\n\n".join([f"# {title}", MADE, *parts]).rstrip() + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; what would break a cell is escaped."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    return "\n".join(lines)


def block(text: str, language: str = "text") -> str:
    """Return a fenced block."""
    return f"```{language}\n{text.rstrip()}\n```"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|") or " "
