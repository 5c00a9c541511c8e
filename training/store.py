"""Files that are either whole or not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from service.durable import replace_durably
from service.errors import StorageError


def write_json(path: Path, content: object) -> None:
    """Write `content` into `path` as JSON, as `write_whole` does.

    Raises:
        StorageError: The disk refuses.
    """
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def write_whole(path: Path, text: str) -> None:
    """Write `text` into `path`, at once: what is read there is the old file or the new one.

    Raises:
        StorageError: The disk refuses.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_durably(path, text.encode())
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error}.") from error


def read_json(path: Path) -> dict[str, Any]:
    """Return what `write_json` wrote.

    Raises:
        StorageError: It cannot be read.
    """
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise StorageError(f"{path} cannot be read: {error}.") from error
    return content
