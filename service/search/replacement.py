"""A corpus made anew beside the old one, and put in its place in one step.

.reencode-NAME      is filled; nobody sees it
.switch-NAME        is whole: from this rename on the switch has happened, and a start after a
                    break ends it
NAME -> .dropped-   the old one, which searches that are running still read
.switch-NAME -> NAME

The lock of the corpora's directory is held while folders in it are renamed, that of a corpus while
it is encoded anew.
"""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path

from service.durable import sync
from service.locks import locked

BEING_MADE = ".reencode-"
SWITCHING = ".switch-"
DROPPED = ".dropped-"

ABANDONED_SECONDS = 3600.0
"""After which a corpus that is being made, and was not written to, was left by a dead process."""


def begin_folder(directory: Path, name: str) -> Path:
    """Return an empty folder for the successor of corpus `name`; what a break left is deleted.

    Raises:
        OSError: The disk refused.
    """
    folder = directory / f"{BEING_MADE}{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def switch_folders(directory: Path, name: str) -> Path:
    """Put the closed corpus that `begin_folder` began in the place of `name`, under the lock.

    Returns:
        Where the old one is now.

    Raises:
        OSError: The disk refused; the old one is in its place, or the next start ends the switch.
    """
    (directory / f"{BEING_MADE}{name}").rename(directory / f"{SWITCHING}{name}")
    sync(directory)
    return end_switch(directory, name)


def end_switch(directory: Path, name: str) -> Path:
    """Do what is left of a switch that has happened; return where the old corpus is now.

    Under the lock: two that did it at once would put the new corpus away too.
    """
    place = directory / name
    dropped = directory / f"{DROPPED}{name}-{time.time_ns()}"
    if place.exists():
        place.rename(dropped)
    (directory / f"{SWITCHING}{name}").rename(place)
    sync(directory)
    return dropped


def is_being_replaced(folder: Path) -> bool:
    """Return whether the corpus in `folder` is the old one of a switch that a break met."""
    return (folder.parent / f"{SWITCHING}{folder.name}").exists()


def end_switches(directory: Path) -> None:
    """End every switch that a break met, and delete what was abandoned before its switch."""
    if any(directory.glob(f"{SWITCHING}*")):
        with locked(directory):
            for folder in sorted(directory.glob(f"{SWITCHING}*")):
                end_switch(directory, folder.name.removeprefix(SWITCHING))
    for folder in sorted(directory.iterdir()):
        if folder.name.startswith(BEING_MADE) and _idle_seconds(folder) > ABANDONED_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def _idle_seconds(folder: Path) -> float:
    latest = 0.0
    with suppress(FileNotFoundError):  # files come and go in a folder that is being written
        for path in (folder, *folder.iterdir()):
            latest = max(latest, path.stat().st_mtime)
    return time.time() - latest
