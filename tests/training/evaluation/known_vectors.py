"""A model whose vectors a test decides, and data folders that a test fills."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from service.inference.session import Vectors
from service.inference.vectors import normalise
from training.data.folder import DataFolder


class KnownVectors:
    """A model that knows some texts; any other one is a zero vector.

    Args:
        known: Text -> vector.
        languages: Those that it was trained for.
    """

    name = "known"
    needs_language = False

    def __init__(
        self,
        known: Mapping[str, Sequence[float] | np.ndarray],
        languages: Sequence[str] = ("en", "de"),
    ) -> None:
        self.known = {text: np.asarray(row, dtype=np.float32) for text, row in known.items()}
        self.dimension = len(next(iter(self.known.values())))
        self.languages = tuple(languages)
        self.asked: list[tuple[str | None, bool | None]] = []

    def encode(
        self,
        texts: Sequence[str],
        *,
        language: str | None = None,
        normalize: bool | None = None,
    ) -> Vectors:
        """Return what is known of each text."""
        self.asked.append((language, normalize))
        zero = np.zeros(self.dimension, dtype=np.float32)
        rows: Vectors = np.stack([self.known.get(text, zero) for text in texts])
        return normalise(rows) if normalize else rows


def write_nway(root: Path, source: str, columns: Mapping[str, Sequence[str]]) -> DataFolder:
    """Write an n-way source below `root` and return the data folder."""
    folder = root / "parallel" / source
    folder.mkdir(parents=True)
    for language, lines in columns.items():
        (folder / f"{language}.txt.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return DataFolder(root)


def write_tsv(
    root: Path, file: str, header: Sequence[str], rows: Sequence[Sequence[str]]
) -> DataFolder:
    """Write `eval/<file>` below `root` and return the data folder."""
    path = root / "eval" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    (root / "parallel").mkdir(exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in [header, *rows]))
    return DataFolder(root)


def drawn(texts: Sequence[str], width: int, *, seed: int) -> dict[str, np.ndarray]:
    """Return a vector for each of `texts`, drawn at random."""
    random = np.random.default_rng(seed)
    return {text: random.normal(size=width) for text in texts}
