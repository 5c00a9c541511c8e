"""All corpora of a data directory, one folder each."""

from __future__ import annotations

import logging
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from service.durable import sync, write_durably
from service.errors import (
    ConflictError,
    InputError,
    InterlinguaError,
    NotFoundError,
    StorageError,
    unknown_name,
)
from service.locks import locked
from service.search.checks import check_new_name
from service.search.corpus import POLICY_FILE, STORE_FILE, Corpus
from service.search.database import replaced
from service.search.document import Metadata, check_corpus_name, check_metadata, is_corpus_name
from service.search.fields import FieldTypes, check_types
from service.search.passages import PassagePolicy
from service.search.policy import IndexPolicy, policy_to_json
from service.search.replacement import (
    DROPPED,
    begin_folder,
    end_switches,
    is_being_replaced,
    switch_folders,
)
from service.search.store import Header, create_store

__all__ = ["Corpora", "Corpus"]

_NEW = ".new-"
"""Begins the name of a folder on its way in: no corpus name begins with a dot."""

_STALE_SECONDS = 3600.0
"""After which a folder on its way in was left by a process that died."""

RETIRED_SECONDS = 60.0
"""So long a corpus may be read by what got hold of it before another took its place."""

_log = logging.getLogger(__name__)


class Corpora:
    """Every corpus below `directory`, opened.

    Args:
        directory: Made if it is not there. A corpus that cannot be opened is named in `damaged`
            and does not keep the others from opening.
        gpu: Whether a GPU searches what is compared exactly: see `service.search.gpu`.

    Raises:
        StorageError: The directory cannot be made or read.
    """

    def __init__(self, directory: Path, *, gpu: bool = False) -> None:
        self.directory = directory
        self._gpu = gpu
        self._lock = threading.Lock()
        self._open: dict[str, Corpus] = {}
        self._damaged: dict[str, InterlinguaError] = {}
        self._retired: list[Corpus] = []
        self._closed = False
        try:
            directory.mkdir(parents=True, exist_ok=True)
            end_switches(directory)
            folders = sorted(path for path in directory.iterdir() if path.is_dir())
        except OSError as error:
            raise _refused(directory, error) from error
        for folder in folders:
            if folder.name.startswith("."):
                _sweep(folder)
            elif (folder / STORE_FILE).exists():
                self._open_one(folder)

    @property
    def damaged(self) -> Mapping[str, str]:
        """Corpora that could not be opened: name -> why."""
        # A copy, made in one step: others find corpora damaged or dropped meanwhile.
        return {name: str(error) for name, error in self._damaged.copy().items()}

    def create(
        self,
        name: str,
        *,
        model: str,
        space: str,
        dimension: int,
        metadata: Metadata | None = None,
        passages: PassagePolicy | None = None,
        index: IndexPolicy | None = None,
        fields: FieldTypes | None = None,
        identity: str | None = None,
    ) -> Corpus:
        """Make an empty corpus.

        Raises:
            InputError: A name, metadata or declared fields that cannot be used.
            ConflictError: One of that name is there.
            StorageError: The disk refused; nothing is left behind.
        """
        check_corpus_name(name)
        check_metadata(metadata or {})
        if dimension < 1:
            raise InputError("A vector has at least 1 number.", field="dimension", given=dimension)
        if fields is not None:
            check_types(fields)
        now = datetime.now(UTC)
        header = Header(model, space, dimension, metadata or {}, now, passages, fields, identity)
        with self._lock:
            check_new_name(name, taken=(self.directory / name).exists())
            self._make_folder(name, header, index or IndexPolicy())
            corpus = self._open[name] = Corpus(self.directory / name, gpu=self._gpu)
        return corpus

    def get(self, name: str) -> Corpus:
        """Return a corpus.

        Raises:
            NotFoundError: There is none of that name.
            StorageError: It is there, but could not be opened.
        """
        with self._lock:
            self._follow(name)
            corpus, why = self._open.get(name), self._damaged.get(name)
        if corpus is not None:
            return corpus
        if why is not None:
            raise StorageError(
                f"Corpus {name!r} could not be opened: {why.message}",
                path=self.directory / name,
                field="corpus",
                remedy=why.remedy or "Restore the corpus from a copy, or drop it.",
            )
        raise self._unknown(name)

    def list(self) -> tuple[Corpus, ...]:
        """Return every corpus that could be opened, by name."""
        with self._lock:
            for name in {*self._open, *self._folders()}:
                self._follow(name)
            return tuple(self._open[name] for name in sorted(self._open))

    def drop(self, name: str) -> None:
        """Delete a corpus and all that is in it; one that could not be opened, too.

        Raises:
            NotFoundError: There is none of that name.
            StorageError: The disk refused.
        """
        with self._lock:
            self._follow(name)
            if name not in self._open and name not in self._damaged:
                raise self._unknown(name)
            # Renamed in one step, so that a break leaves the whole corpus or none.
            dropped = self.directory / f"{DROPPED}{name}-{time.time_ns()}"
            try:
                with locked(self.directory):
                    (self.directory / name).rename(dropped)
                corpus = self._open.pop(name, None)
                self._damaged.pop(name, None)
                sync(self.directory)
            except OSError as error:
                raise _refused(self.directory / name, error) from error
        # Without the lock: closing waits for a write, and a re-encoding that ends is one that
        # waits for the lock; it finds the corpus gone.
        if corpus is not None:
            corpus.close(save=False)
        shutil.rmtree(dropped, ignore_errors=True)

    @contextmanager
    def successor(
        self, old: Corpus, *, model: str, space: str, dimension: int, identity: str | None = None
    ) -> Iterator[Successor]:
        """Make an empty corpus that may take the place of `old`; deleted where it does not.

        Args:
            old: A corpus of this directory, whose metadata and policies the new one takes over.
            model: The encoder that makes the new vectors.
            space: Their space.
            dimension: Their width.
            identity: Of the encoder's weights.

        Raises:
            NotFoundError: `old` was dropped.
            ConflictError: Another process makes one.
            StorageError: The disk refused.
        """
        header = old.header_for(model, space, dimension, identity)
        with ExitStack() as held:
            try:
                held.enter_context(locked(self.directory / old.name, wait=False))
                folder = begin_folder(self.directory, old.name)
            except BlockingIOError as error:
                raise ConflictError(
                    f"Another process is encoding the corpus {old.name!r} anew.",
                    remedy="Wait until it has, or end it there.",
                ) from error
            except OSError as error:
                self._check_is_there(old)
                raise _refused(self.directory, error) from error
            # Nothing is there if it was put in place.
            held.callback(shutil.rmtree, folder, ignore_errors=True)
            create_store(folder / STORE_FILE, header)
            try:
                for kept in old.policy_files():
                    write_durably(folder / kept.name, kept.read_bytes())
                sync(folder)
            except OSError as error:
                self._check_is_there(old)
                raise _refused(folder, error) from error
            successor = Successor(self, old, Corpus(folder))
            held.callback(successor.corpus.close, save=False)
            yield successor

    def put_in_place(self, old: Corpus, fresh: Corpus) -> None:
        """Have the corpus `fresh` answer to the name of `old`, which it closes after a while.

        Raises:
            NotFoundError: `old` was dropped meanwhile.
            UnavailableError: Another process dropped it.
            StorageError: The disk refused.
        """
        name = old.name
        with self._lock:
            self._check_is_there(old)
            try:
                with locked(self.directory):
                    if not old.in_place:
                        raise replaced(name)
                    fresh.close()
                    moved = switch_folders(self.directory, name)
            except OSError as error:
                raise _refused(self.directory / name, error) from error
            self._retire(old, moved)
            self._open_one(self.directory / name)

    def close(self) -> None:
        """Save the indexes and let go of all files."""
        with self._lock:
            self._closed = True
            retired, self._retired = self._retired, []
            corpora = [self._open.pop(name) for name in sorted(self._open)]
        for corpus in retired:
            corpus.close(save=False)
        for corpus in corpora:
            corpus.close()

    def _follow(self, name: str) -> None:
        """Have `name` mean what is there: another process may have made, replaced or dropped it."""
        if self._closed or not is_corpus_name(name):
            return
        corpus, folder = self._open.get(name), self.directory / name
        with suppress(OSError):  # what cannot be looked at stays as it was
            if corpus is not None and not corpus.in_place and not is_being_replaced(folder):
                self._retire(self._open.pop(name), folder)
            if name in self._damaged and not folder.exists():
                del self._damaged[name]
            known = name in self._open or name in self._damaged
            if not known and (folder / STORE_FILE).exists():
                self._open_one(folder)

    def _folders(self) -> Iterator[str]:
        with suppress(OSError):
            yield from (path.name for path in self.directory.iterdir())

    def _retire(self, old: Corpus, folder: Path) -> None:
        """Let go of `old` after a while; its files are in `folder` where they were put aside."""
        old.retire(folder)
        self._retired.append(old)
        ending = threading.Timer(RETIRED_SECONDS, self._let_go, (old, folder))
        ending.daemon = True
        ending.start()

    def _let_go(self, retired: Corpus, folder: Path) -> None:
        retired.close(save=False)
        with self._lock, suppress(ValueError):  # all were closed meanwhile
            self._retired.remove(retired)
        if folder.name.startswith(DROPPED):
            shutil.rmtree(folder, ignore_errors=True)

    def _open_one(self, folder: Path) -> None:
        try:
            self._open[folder.name] = Corpus(folder, gpu=self._gpu)
        except InterlinguaError as error:
            self._damaged[folder.name] = error
            _log.error("Corpus %s is left out: %s", folder.name, error)
        except Exception as error:  # whatever it is, the other corpora are served
            self._damaged[folder.name] = StorageError(
                f"The corpus cannot be opened: {type(error).__name__}: {error}.", path=folder
            )
            _log.exception("Corpus %s is left out", folder.name)

    def _make_folder(self, name: str, header: Header, index: IndexPolicy) -> None:
        staging = None
        try:
            staging = Path(tempfile.mkdtemp(prefix=_NEW, dir=self.directory))
            staging.chmod(0o755)
            create_store(staging / STORE_FILE, header)
            write_durably(staging / POLICY_FILE, policy_to_json(index))
            sync(staging)
            staging.rename(self.directory / name)
            sync(self.directory)
        except OSError as error:
            raise _refused(self.directory / name, error) from error
        finally:
            if staging is not None:
                shutil.rmtree(staging, ignore_errors=True)  # nothing there if it was renamed

    def _check_is_there(self, corpus: Corpus) -> None:
        if self._open.get(corpus.name) is not corpus:
            raise self._unknown(corpus.name)

    def _unknown(self, name: str) -> NotFoundError:
        return unknown_name("corpus", name, sorted(self._open), nothing="none yet")


class Successor:
    """A corpus on its way to another's place.

    Attributes:
        corpus: To be filled.
    """

    def __init__(self, corpora: Corpora, old: Corpus, corpus: Corpus) -> None:
        self._corpora = corpora
        self._old = old
        self.corpus = corpus

    def switch(self) -> None:
        """Put it there; see `Corpora.put_in_place`."""
        self._corpora.put_in_place(self._old, self.corpus)


def _sweep(folder: Path) -> None:
    """Delete what a process that died left of a corpus it was making or dropping."""
    with suppress(FileNotFoundError):  # another process did
        stale = time.time() - folder.stat().st_mtime > _STALE_SECONDS
        if folder.name.startswith(DROPPED) or (folder.name.startswith(_NEW) and stale):
            shutil.rmtree(folder, ignore_errors=True)


def _refused(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"The corpora's directory cannot be used: {error.strerror or error}.",
        path=path,
        remedy="Check the data directory's rights and free space.",
    )
