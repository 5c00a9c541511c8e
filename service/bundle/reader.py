"""Read a bundle and refuse what cannot be trusted, with the reason."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from service.bundle.manifest import EncoderEntry, FileEntry, Manifest, Part
from service.errors import BundleError

MANIFEST_FILE = "bundle.json"

_PART_BYTES = 4 << 20

Schema = TypeVar("Schema", bound=Part)


@dataclass(frozen=True, slots=True)
class Bundle:
    """A verified bundle: its directory and what its manifest says.

    Attributes:
        directory: Where its files are.
        manifest: What it is.
        elsewhere: File name -> path of files that have another name or place in the directory, as
            in one that was made by other tools.
    """

    directory: Path
    manifest: Manifest
    elsewhere: Mapping[str, Path] = field(default_factory=dict)

    def path_of(self, file: str) -> Path:
        """Return the path of one of the manifest's files."""
        return self.elsewhere.get(file, self.directory / file)

    def graph_path(self, encoder: EncoderEntry) -> Path:
        """Return the path of an encoder's ONNX graph."""
        return self.path_of(encoder.graph)

    def tokenizer_path(self, encoder: EncoderEntry) -> Path:
        """Return the path of an encoder's tokenizer."""
        return self.path_of(encoder.tokenizer.file)


def read_bundle(directory: Path, *, verify: bool = True) -> Bundle:
    """Read the bundle in `directory`.

    Args:
        directory: Holds `bundle.json` and the files it names.
        verify: Whether to hash every file; loading always does, listing need not.

    Raises:
        BundleError: No manifest, a manifest that breaks the schema, or a file that is missing or
            not the one that was written.
    """
    manifest = read_manifest(directory / MANIFEST_FILE, Manifest)
    if verify:
        verify_files(directory, manifest.files)
    return Bundle(directory, manifest)


def read_manifest(path: Path, schema: type[Schema]) -> Schema:
    """Return the manifest in `path`.

    Raises:
        BundleError: It is missing, or breaks `schema`; the field at fault is named.
    """
    try:
        return schema.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        if not path.parent.exists():
            names = "; `interlingua models list` shows the names that stand for one"
            raise BundleError(
                f"There is no directory {path.parent}.",
                remedy=f"Correct the path{names if path.name == MANIFEST_FILE else ''}.",
            ) from None
        raise BundleError(
            f"{path.parent} is no bundle: it has no {path.name}.",
            remedy="Give the directory that `interlingua train` or `export` wrote.",
        ) from None
    except OSError as error:
        raise BundleError(f"{path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "(whole)"
        raise BundleError(
            f"{path} breaks the bundle schema: {first['msg']}.", field=field, given=first["input"]
        ) from None


def verify_files(directory: Path, files: Mapping[str, FileEntry]) -> None:
    """Raise BundleError unless each of `files` is in `directory`, just as it was written."""
    for name, entry in files.items():
        _verify_file(directory / name, entry.sha256, entry.bytes)


def _verify_file(path: Path, sha256: str, size: int) -> None:
    try:
        found = file_entry(path)
    except OSError as error:
        raise BundleError(f"{path} is named in the manifest but cannot be read: {error}.") from None
    if found.bytes != size:
        raise BundleError(
            f"{path} has {found.bytes} bytes where the manifest says {size}: it is cut or changed.",
            remedy="Copy the bundle again.",
        )
    if found.sha256 != sha256:
        raise BundleError(
            f"{path} is not the file that was written: its sha256 differs from the manifest's.",
            remedy="Copy the bundle again, or export it anew.",
        )


def file_entry(path: Path) -> FileEntry:
    """Return the manifest's entry for the file at `path`, read in parts: it may be large."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        # Each of `hashlib.file_digest`'s small parts would wait for other threads to give way.
        part = memoryview(bytearray(_PART_BYTES))
        while count := file.readinto(part):
            digest.update(part[:count])
        return FileEntry(sha256=digest.hexdigest(), bytes=file.tell())
