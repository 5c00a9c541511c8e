"""Moses pairs: `<src>-<tgt>.<src>(.gz)` beside `<src>-<tgt>.<tgt>(.gz)`.

A prefix may stand before the pair, as in `europarl-v7.de-en.de` and `UNv1.0.en-fr.fr`. Line i of
both files is one pair; neither side may be empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from training.data.lines import BrokenLines, read_lines


@dataclass(frozen=True, slots=True)
class MosesFiles:
    """The two files of one language pair."""

    source: str
    target: str
    source_file: Path
    target_file: Path


def find_moses(folder: Path) -> list[MosesFiles]:
    """Return the language pairs of `folder`, sorted by name."""
    by_stem: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.iterdir()):
        stem, _, language = path.name.removesuffix(".gz").rpartition(".")
        if "-" in stem:
            by_stem.setdefault(stem, {})[language] = path
    found = []
    for stem, files in by_stem.items():
        pair = stem.rpartition(".")[2] if stem.rpartition(".")[2].count("-") else stem
        # Codes may hold hyphens themselves (zh-hant), so the files decide where the pair is cut.
        for source, target in _cuts(pair):
            if source in files and target in files:
                found.append(MosesFiles(source, target, files[source], files[target]))
    return found


def _cuts(pair: str) -> Iterator[tuple[str, str]]:
    parts = pair.split("-")
    for cut in range(1, len(parts)):
        yield "-".join(parts[:cut]), "-".join(parts[cut:])


def read_moses(files: MosesFiles, broken: BrokenLines) -> Iterator[tuple[str, str]]:
    """Yield the sentence pairs of `files`, source first.

    Files of unequal length are left out whole: no line of them is surely aligned.
    """
    source = read_lines(files.source_file, broken)
    target = read_lines(files.target_file, broken)
    if len(source) != len(target):
        reason = f"{len(source)} lines where {files.target_file.name} has {len(target)}"
        broken.add(files.source_file, 0, reason, lines=max(len(source), len(target)))
        return
    for number, (left, right) in enumerate(zip(source, target, strict=True), start=1):
        if left is None or right is None:
            continue  # counted when it was read
        if not left.strip() or not right.strip():
            empty = files.target_file if left.strip() else files.source_file
            broken.add(empty, number, "an empty side")
            continue
        yield left, right
