"""The classifiers that can be asked, by name: those that were shipped and those fitted here."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from service.classification.head import Head, read_head
from service.classification.store import ClassifierStore, check_classifier_name
from service.errors import ConflictError, NotFoundError, SettingsError, unknown_name

DEFAULT = "topic"
"""Answers where none is named, if it is there; else the first that takes single texts."""

Make = Callable[[Path, int], Head]
"""Writes a head of the given version into the directory."""


class Classifiers:
    """The heads, loaded at once: what cannot be served is known before anybody asks.

    Args:
        directories: Of heads that came with the service or its settings; they are never changed.
        store: Where fitted ones are kept.
        fixed: Whether none is fitted, switched or dropped here, since replicas beside this one
            would not learn of it.

    Raises:
        BundleError: One of `directories` holds no head, or one that cannot be trusted.
        SettingsError: Two heads of one name.
    """

    def __init__(
        self,
        directories: Iterable[Path],
        store: ClassifierStore | None = None,
        *,
        fixed: bool = False,
    ) -> None:
        self._fixed = fixed
        self._heads: dict[str, Head] = {}
        self._store = store
        self._lock = threading.Lock()
        """Of changes, which write to the disk. Whoever asks does so without it, by one operation of
        `_heads`: on the event loop nobody may wait for a disk."""
        self._numbers: Counter[str] = Counter()
        """The latest number that a version got, made or not; forgotten with the classifier."""
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
        self._given = frozenset(self._heads)
        for head in store.read_all() if store is not None else ():
            self._heads.setdefault(head.name, head)

    def list(self) -> tuple[Head, ...]:
        """Return every head, by name."""
        heads = self._heads.copy()
        return tuple(heads[name] for name in sorted(heads))

    def get(self, name: str) -> Head:
        """Return a head.

        Raises:
            NotFoundError: There is none of that name.
        """
        head = self._heads.get(name)
        if head is None:
            raise self._unknown(name)
        return head

    def default(self) -> Head:
        """Return the head that answers where none is named.

        Raises:
            NotFoundError: There is none.
        """
        heads = {head.name: head for head in self.list()}
        texts = [head for head in heads.values() if not head.takes_pairs]
        if DEFAULT in heads:
            return heads[DEFAULT]
        if not heads:
            raise NotFoundError(
                "There is no classifier yet.",
                field="classifier",
                remedy="Start with --head DIR."
                if self._fixed
                else "Fit one: PUT /classifiers/NAME with examples; or start with --head DIR.",
            )
        return texts[0] if texts else next(iter(heads.values()))

    def is_given(self, name: str) -> bool:
        """Whether it came with the service or its settings, and so is never changed here."""
        return name in self._given

    def versions(self, name: str) -> tuple[int, ...]:
        """Return the numbers of the versions that are there, the current one among them."""
        if self._store is None or self.is_given(name):
            return (self.get(name).manifest.version,)
        return tuple(self._store.versions(name))

    def check_free(self, name: str) -> None:
        """Raise unless a classifier may be fitted under `name`.

        Raises:
            InputError: It can be no name.
            ConflictError: It is the name of one that is never changed here, or none is.
        """
        check_classifier_name(name)
        self._require_own(name)

    def add_version(self, name: str, make: Make) -> Head:
        """Have `make` write a new version, then switch to it in one step; return it.

        What `make` raises leaves all as it was.

        Raises:
            NotFoundError: The classifier was dropped while another version of it was made.
            StorageError: The disk refused.
        """
        self.check_free(name)
        store = self._own_store()
        with self._lock:
            version = max(self._numbers[name] + 1, store.next_version(name))
            self._numbers[name] = version
        with store.draft() as draft:
            make(draft, version)
            with self._lock:
                if self._numbers[name] < version:
                    raise self._unknown(name)
                store.put_in_place(draft, name, version)
                head = self._heads[name] = store.activate(name, version)
        return head

    def activate(self, name: str, version: int) -> Head:
        """Switch to a version that is there; requests under way end with the one they began with.

        Raises:
            NotFoundError: There is no such version.
            ConflictError: It is never changed here.
            BundleError: It cannot be trusted.
            StorageError: The disk refused.
        """
        self._require_own(name)
        with self._lock:
            head = self._heads[name] = self._own_store().activate(name, version)
        return head

    def drop_version(self, name: str, version: int) -> None:
        """Delete an old version.

        Raises:
            NotFoundError: There is no such version.
            ConflictError: It is the current one, or never changed here.
            StorageError: The disk refused.
        """
        self.get(name)
        self._require_own(name)
        with self._lock:
            self._own_store().drop_version(name, version)

    def drop(self, name: str) -> None:
        """Delete a classifier with all its versions.

        Raises:
            NotFoundError: There is none of that name.
            ConflictError: It is never changed here.
            StorageError: The disk refused.
        """
        with self._lock:
            if name not in self._heads:
                raise self._unknown(name)
            self._require_own(name)
            self._own_store().drop(name)
            del self._heads[name], self._numbers[name]

    def _unknown(self, name: str) -> NotFoundError:
        return unknown_name("classifier", name, sorted(self._heads.copy()))

    def _require_own(self, name: str) -> None:
        if self._fixed:
            raise ConflictError(
                "Classifiers are not changed here: of the replicas on a vector engine only this "
                "one would learn of it.",
                field="classifiers",
                given=name,
                remedy="Fit it with a service that has no --vector-engine, or with interlingua "
                "train head; then start each replica with --head DIR.",
            )
        if self.is_given(name):
            raise ConflictError(
                f"Classifier {name!r} came with the service and is not changed here.",
                field="name",
                given=name,
                remedy="Fit one under another name.",
            )

    def _own_store(self) -> ClassifierStore:
        assert self._store is not None, "classifiers without a store are not changed; a bug"
        return self._store
