"""Write a bundle so that it is whole or not there."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from service.bundle.card import render_card
from service.bundle.manifest import FileEntry, Manifest
from service.bundle.reader import MANIFEST_FILE, Bundle, file_entry, read_bundle
from service.durable import sync, write_durably
from service.errors import BundleError

CARD_FILE = "CARD.md"

_MODELS = (MANIFEST_FILE, "head.json")
"""Each of them makes a directory a model: an encoder's bundle, a classifier."""

Content = bytes | Path
"""What a file shall hold: these bytes, or what another file holds."""


def file_entries(files: Mapping[str, Content]) -> dict[str, FileEntry]:
    """Return the manifest's entries for `files` (name -> content)."""
    return {name: _entry(content) for name, content in files.items()}


def _entry(content: Content) -> FileEntry:
    if isinstance(content, Path):
        return file_entry(content)
    return FileEntry(sha256=hashlib.sha256(content).hexdigest(), bytes=len(content))


def write_bundle(directory: Path, manifest: Manifest, files: Mapping[str, Content]) -> Bundle:
    """Write `files`, `bundle.json` and `CARD.md` into `directory`, replacing what was there.

    A break leaves the old bundle or the new one, never half of one.

    Args:
        directory: Where the bundle shall be.
        manifest: Its `files` must match `files`; `file_entries` makes them.
        files: Name -> content of every file but the manifest and the card.

    Raises:
        BundleError: What is there is no bundle.
    """
    if set(files) != set(manifest.files):
        raise ValueError("the manifest's files are not the ones given; this is a bug")
    write_directory(
        directory,
        {
            **files,
            MANIFEST_FILE: (manifest.model_dump_json(indent=2) + "\n").encode(),
            CARD_FILE: render_card(manifest).encode(),
        },
        known_by=MANIFEST_FILE,
    )
    return read_bundle(directory)


def write_directory(directory: Path, files: Mapping[str, Content], *, known_by: str) -> None:
    """Write `files` (name -> content) into `directory`, replacing all that was there.

    All is written beside it first and moved into place, so a break leaves the old files or the
    new ones, never some of each; a power cut after the return leaves the new ones.

    Args:
        directory: Where they shall be.
        files: Name -> content.
        known_by: The file without which a directory that holds something is somebody's own.

    Raises:
        BundleError: It is, or it is a file's place in a model; nothing is written and nothing lost.
    """
    if directory.exists() and not _may_be_replaced(directory, known_by):
        raise BundleError(
            f"{directory} holds other things, which would be lost: it has no {known_by}.",
            remedy=f"Name a directory that is not there yet, such as {directory / 'NAME'}.",
        )
    around = [name for name in _MODELS if (directory.parent / name).is_file()]
    if around:
        raise BundleError(
            f"{directory} lies inside the model {directory.parent}, which has a {around[0]}.",
            remedy=f"Name a directory beside it, such as {directory.parent.parent / 'NAME'}.",
        )
    directory.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{directory.name}-", dir=directory.parent))
    try:
        staging.chmod(0o755)
        for name, content in files.items():
            if isinstance(content, Path):
                shutil.copyfile(content, staging / name)
                sync(staging / name)
            else:
                write_durably(staging / name, content)
        sync(staging)
        if directory.exists():
            retired = staging.with_name(staging.name + "-old")
            directory.rename(retired)
            staging.rename(directory)
            shutil.rmtree(retired)
        else:
            staging.rename(directory)
        sync(directory.parent)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def _may_be_replaced(directory: Path, known_by: str) -> bool:
    if not directory.is_dir():
        return False
    return (directory / known_by).is_file() or not any(directory.iterdir())
