"""Fitted classifiers on disk: a directory each, in it a directory a version, and which is current.

    DIR/topics/current          the number of the current version
    DIR/topics/v1/head.json     a head bundle
    DIR/topics/v2/...

Versions are moved into place whole and `current` is replaced in one step, so that a service that is
killed at any moment finds the old version or the new one.
"""

from __future__ import annotations

import logging
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from service.classification.head import Head, read_head
from service.durable import replace_durably, sync
from service.errors import (
    BundleError,
    ConflictError,
    InputError,
    InterlinguaError,
    NotFoundError,
    StorageError,
)
from service.locks import locked

_log = logging.getLogger(__name__)

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_VERSION = re.compile(r"v([1-9][0-9]{0,8})")
_CURRENT = "current"


class ClassifierStore:
    """The classifiers of `directory`, which is made when the first is written.

    What a killed process left half done (names that begin with a dot) is cleared away; what another
    process that lives is at stays.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        with suppress(OSError), locked(directory):  # not there yet, or not to be locked
            for left in [*directory.glob(".*"), *directory.glob("*/.*")]:
                _sweep(left)

    def names(self) -> list[str]:
        """Return the names, sorted."""
        found = self._directory.glob(f"*/{_CURRENT}")
        return sorted(path.parent.name for path in found if _NAME.fullmatch(path.parent.name))

    def read_all(self) -> Iterator[Head]:
        """Give the current version of each; where it cannot be read, the newest that can.

        Whatever is wrong with one is logged and keeps none of the others from being read.
        """
        for name in self.names():
            head = self._first_readable(name)
            if head is None:
                _log.error("Classifier %s is left out: it has no version that can be read.", name)
            else:
                yield head

    def _first_readable(self, name: str) -> Head | None:
        versions = sorted(self.versions(name), reverse=True)
        try:
            versions.insert(0, self.current(name))
        except StorageError as error:
            _log.error("Classifier %s: %s", name, error)
        for version in versions:
            try:
                return self.read(name, version)
            except InterlinguaError as error:
                _log.error("Version %s of classifier %s is left out: %s", version, name, error)
        return None

    def read(self, name: str, version: int) -> Head:
        """Read one version.

        Raises:
            NotFoundError: There is none of that number.
            BundleError: It cannot be trusted.
        """
        if version not in self.versions(name):
            listed = ", ".join(map(str, self.versions(name))) or "none"
            raise NotFoundError(
                f"Classifier {name!r} has no such version.",
                field="version",
                given=version,
                remedy=f"There are: {listed}.",
            )
        head = read_head(self.path(name, version))
        if (head.name, head.manifest.version) != (name, version):
            raise BundleError(
                f"{head.directory} holds version {head.manifest.version} of {head.name}."
            )
        return head

    def versions(self, name: str) -> list[int]:
        """Return the numbers of a classifier's versions, sorted; none where it is not there."""
        if not _NAME.fullmatch(name):
            return []  # no path is made of it
        try:
            found = [_VERSION.fullmatch(path.name) for path in (self._directory / name).glob("v*")]
        except FileNotFoundError:  # dropped while it was listed
            return []
        return sorted(int(match[1]) for match in found if match)

    def current(self, name: str) -> int:
        """Return the number of the current version.

        Raises:
            StorageError: Its file cannot be read.
        """
        path = self._directory / name / _CURRENT
        try:
            return int(path.read_text("ascii"))
        except (OSError, ValueError) as error:
            raise StorageError("The current version cannot be read.", path=path) from error

    def path(self, name: str, version: int) -> Path:
        """Return the directory of a version, which may not be there yet."""
        return self._directory / check_classifier_name(name) / f"v{version}"

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """Give a directory to write a version into; deleted where it is not put in place.

        It is beside the classifiers, so that one that is dropped meanwhile pulls nothing away.

        Raises:
            StorageError: The disk refused, also what is done with the directory.
        """
        with ExitStack() as held:
            with _storing():
                self._directory.mkdir(parents=True, exist_ok=True)
                with locked(self._directory):  # or another process could sweep it in between
                    beside = Path(tempfile.mkdtemp(prefix=".draft-", dir=self._directory))
                    held.callback(shutil.rmtree, beside, ignore_errors=True)
                    held.enter_context(locked(beside))
            with _storing():
                yield beside / "version"

    def put_in_place(self, draft: Path, name: str, version: int) -> None:
        """Make a draft a version of a classifier, which may be its first.

        Raises:
            StorageError: The disk refused.
        """
        path = self.path(name, version)
        with _storing():
            path.parent.mkdir(exist_ok=True)
            draft.rename(path)
            sync(path.parent)
            sync(self._directory)

    def next_version(self, name: str) -> int:
        """Return a number that no version has."""
        return max(self.versions(name), default=0) + 1

    def activate(self, name: str, version: int) -> Head:
        """Make a version the current one, in one step; return it.

        Raises:
            NotFoundError: There is no such version.
            BundleError: It cannot be trusted; what was current stays so.
            StorageError: The disk refused.
        """
        head = self.read(name, version)
        path = self._directory / name / _CURRENT
        with _storing(), locked(self._directory):  # or it could be swept before it is in place
            replace_durably(path, b"%d" % version)
            sync(path.parent)
        return head

    def drop_version(self, name: str, version: int) -> None:
        """Delete one version.

        Raises:
            NotFoundError: There is no such version.
            ConflictError: It is the current one.
            StorageError: The disk refused, or does not say which is current.
        """
        if version not in self.versions(name):
            self.read(name, version)
        if version == self.current(name):
            raise ConflictError(
                f"Version {version} of classifier {name!r} is the current one.",
                field="version",
                given=version,
                remedy=f"Activate another first, or drop all: DELETE /classifiers/{name}.",
            )
        _remove(self.path(name, version))

    def drop(self, name: str) -> None:
        """Delete a classifier with all its versions.

        Raises:
            StorageError: The disk refused.
        """
        _remove(self._directory / check_classifier_name(name))


def check_classifier_name(name: str) -> str:
    """Return `name`, or raise InputError where no classifier may be called so."""
    if not _NAME.fullmatch(name):
        raise InputError(
            "A classifier's name has 1 to 64 lower-case letters, digits, dots, hyphens and "
            "underscores, and begins with a letter or digit.",
            field="name",
            given=name,
        )
    return name


def _sweep(left: Path) -> None:
    with suppress(OSError):  # BlockingIOError: a draft that is being written
        if left.is_dir():
            with locked(left, wait=False):
                shutil.rmtree(left)
        else:
            left.unlink()


def _remove(directory: Path) -> None:
    gone = directory.with_name(f".{directory.name}-dropped")
    with _storing():
        shutil.rmtree(gone, ignore_errors=True)
        directory.rename(gone)  # in one step; what is left of it is cleared at the next start
        shutil.rmtree(gone, ignore_errors=True)


@contextmanager
def _storing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"The disk refused: {error.strerror}.") from error
