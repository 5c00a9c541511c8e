"""Types of command line arguments: what is wrong is said before anything is started."""

from __future__ import annotations

import argparse
from pathlib import Path


def whole_number(text: str) -> int:
    """Return a whole number from 1 on."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return number


def above_zero(text: str) -> float:
    """Return a number above 0: seconds, rates, multiples."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return number


def existing_folder(text: str) -> Path:
    """Return the path of a directory that is there."""
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"there is no directory {text!r}")
    return path


def existing_file(text: str) -> Path:
    """Return the path of a file that is there."""
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text!r}")
    return path


def result_file(text: str) -> Path:
    """Return where a file can be written: hours of measurement must not end in its folder."""
    path = Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no directory {str(path.parent)!r} to write to")
    return path
