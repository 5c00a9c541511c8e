"""The classifiers that can be asked, by name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from service.classification.head import Head


class Classifiers:
    """The heads in `directories`, loaded at once: a bad one raises BundleError here."""

    def __init__(self, directories: Iterable[Path]) -> None:
        raise NotImplementedError

    def list(self) -> tuple[Head, ...]:
        """Return every head, by name."""
        raise NotImplementedError

    def get(self, name: str) -> Head:
        """Return a head, or raise NotFoundError."""
        raise NotImplementedError
