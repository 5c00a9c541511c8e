"""The classifiers that can be asked, by name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from service.classification.head import Head, read_head
from service.errors import NotFoundError, SettingsError


class Classifiers:
    """The heads in `directories`, loaded at once: what cannot be served is known before any asks.

    Raises:
        BundleError: A directory that holds no head, or one that cannot be trusted.
        SettingsError: Two heads of one name.
    """

    def __init__(self, directories: Iterable[Path]) -> None:
        self._heads: dict[str, Head] = {}
        for directory in directories:
            head = read_head(directory)
            if head.name in self._heads:
                raise SettingsError(
                    f"Two classifiers are called {head.name}.",
                    field="head",
                    given=str(directory),
                    remedy="Give one of them, or rename one in its head.json.",
                )
            self._heads[head.name] = head

    def list(self) -> tuple[Head, ...]:
        """Return every head, by name."""
        return tuple(self._heads[name] for name in sorted(self._heads))

    def get(self, name: str) -> Head:
        """Return a head.

        Raises:
            NotFoundError: There is none of that name.
        """
        try:
            return self._heads[name]
        except KeyError:
            known = ", ".join(sorted(self._heads)) or "none"
            raise NotFoundError(
                "There is no classifier of this name.",
                field="classifier",
                given=name,
                remedy=f"There are: {known}.",
            ) from None
