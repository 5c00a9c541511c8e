"""The settings in force, and where each came from."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from service.settings import MAY_BE_EMPTY, Settings

Origin: TypeAlias = Literal["flag", "environment", ".env", "default"]


@dataclass(frozen=True, slots=True)
class Choice:
    """A setting: its name, its value as text (never a secret), and where it came from."""

    name: str
    value: str
    origin: Origin


def choices(settings: Settings, flags: Collection[str], directory: Path) -> list[Choice]:
    """Return every setting in the order of `Settings`.

    Args:
        settings: In force.
        flags: Names given on the command line.
        directory: Whose `.env` was read.
    """
    environment = {name.lower(): value for name, value in os.environ.items()}
    written = _names_in(directory / ".env")

    def origin(name: str) -> Origin:
        variable = f"interlingua_{name}"
        if name in flags:
            return "flag"
        if variable in environment:
            # One that is empty hides that of `.env`, and says nothing itself.
            return "environment" if environment[variable] or name in MAY_BE_EMPTY else "default"
        return ".env" if variable in written else "default"

    return [Choice(n, _as_text(n, getattr(settings, n)), origin(n)) for n in Settings.model_fields]


def _as_text(name: str, value: object) -> str:
    if name == "api_keys":
        count = len(value) if isinstance(value, list) else 0
        return f"{count} set" if count else "none: open to all"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def _names_in(path: Path) -> set[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError:
        return set()
    assignments = (line.removeprefix("export ").partition("=") for line in map(str.strip, lines))
    return {name.strip().lower() for name, equals, _ in assignments if equals and name[:1] != "#"}
