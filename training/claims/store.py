"""JSON files that are either whole or not there."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from service.errors import StorageError


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Write `content` into `path`, at once: what is read there is the old file or the new one.

    Raises:
        StorageError: The disk refuses.
    """
    staging = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with staging.open("w", encoding="utf-8") as file:
            json.dump(content, file, indent=1, ensure_ascii=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        staging.replace(path)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error}.") from error
    finally:
        staging.unlink(missing_ok=True)


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
