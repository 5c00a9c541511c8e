"""n-way line files: `<lang>.txt(.gz)`, or `NAME.6way.<lang>` as the UN corpus has it.

Line i is the same sentence in every file; an empty line says that it is missing there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from training.data.lines import BrokenLines, read_lines

_LANGUAGE = r"(?P<language>[a-z]{2,3}(?:-[a-z0-9]+)*)"
_FILE_NAME = re.compile(rf"^(?:{_LANGUAGE}\.txt|.+\.\dway\.(?P<un>[a-z]{{2,3}}))(?:\.gz)?$")


@dataclass(frozen=True, slots=True)
class NWay:
    """Columns of equal length by language; an empty string where the sentence is missing."""

    columns: dict[str, list[str]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def rows(self) -> Iterator[dict[str, str]]:
        """Yield each row as language -> sentence, without what is missing."""
        for sentences in zip(*self.columns.values(), strict=True):
            yield {
                language: sentence
                for language, sentence in zip(self.columns, sentences, strict=True)
                if sentence
            }


def find_nway(folder: Path) -> dict[str, Path]:
    """Return the n-way files of `folder` by language, sorted."""
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        match = _FILE_NAME.match(path.name)
        if match:
            found[match["language"] or match["un"]] = path
    return dict(sorted(found.items()))


def read_nway(
    folder: Path, *, languages: Collection[str] | None = None, broken: BrokenLines
) -> NWay:
    """Read the n-way files of `folder`.

    Args:
        folder: Holds one file a language.
        languages: Those to read; all where None.
        broken: Takes the broken lines. A file of another length than most is left out whole:
            a line is missing or too many somewhere before its end, so no line of it is sure.
    """
    columns: dict[str, list[str]] = {}
    files = find_nway(folder)
    for language, path in files.items():
        if languages is None or language in languages:
            columns[language] = [line or "" for line in read_lines(path, broken)]
    lengths = Counter(map(len, columns.values()))
    if len(lengths) > 1:
        usual = max(lengths, key=lambda length: (lengths[length], length))
        for language in [name for name, lines in columns.items() if len(lines) != usual]:
            count = len(columns.pop(language))
            reason = f"{count} lines where the other languages have {usual}: alignment is lost"
            broken.add(files[language], 0, reason, lines=count)
    return NWay(columns)
