"""The data folder: `parallel/<source>/...` to train on, `eval/<set>/...` to measure with.

Laid out as docs/data.md says; which format a source has is seen from its file names.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from service.errors import InputError, NotFoundError
from training.data.cldr import find_cldr
from training.data.lines import BrokenLines
from training.data.moses import find_moses
from training.data.nway import find_nway
from training.data.tsv import read_header, read_tsv

FORMATS = """\
  parallel/<source>/<lang>.txt(.gz)              n-way: line i is the same sentence everywhere
  parallel/<source>/<src>-<tgt>.<lang>(.gz)      Moses pairs: two files of equal length
  parallel/<source>/**/annotations/<lang>/*.json  the CLDR, as its npm packages unpack
  eval/tatoeba/<lang>-en.tsv(.gz)                header `<lang> TAB en`, one pair a row
  eval/stsb/<lang>.dev.tsv(.gz)                  header `sentence1 TAB sentence2 TAB score`
docs/data.md says where public corpora of these formats come from."""

_FINDERS = (find_nway, find_moses, find_cldr)
_NO_TEXT = frozenset({"label", "score", "id", "index_id", "source"})


@dataclass(frozen=True, slots=True)
class DataFolder:
    """A data folder that was found to be one."""

    root: Path

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources of parallel text, sorted."""
        return tuple(
            path.name
            for path in sorted((self.root / "parallel").iterdir())
            if path.is_dir() and any(find(path) for find in _FINDERS)
        )

    def source(self, name: str) -> Path:
        """Return the folder of a source.

        Raises:
            NotFoundError: There is no such source here.
        """
        if name in self.sources:
            return self.root / "parallel" / name
        near = difflib.get_close_matches(name, self.sources, n=1)
        raise NotFoundError(
            f"{self.root / 'parallel'} has no source of that name; it has "
            f"{', '.join(self.sources)}.",
            field="sources",
            given=name,
            remedy=f"Did you mean {near[0]!r}?" if near else "Leave it out, or add its files.",
        )

    def present(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of `names` that are here, in their order."""
        here = set(self.sources)
        return tuple(name for name in names if name in here)

    def files(self) -> list[tuple[str, int, int]]:
        """Return the name, size and time of change of each file: others where a text is."""
        return [
            (str(path.relative_to(self.root)), path.stat().st_size, path.stat().st_mtime_ns)
            for path in sorted(self.root.rglob("*"))
            if path.is_file()
        ]

    def evaluation_files(self, protocol: str, pattern: str = "*.tsv*") -> list[Path]:
        """Return the files of an evaluation set, sorted; none where the set is not here."""
        return sorted((self.root / "eval" / protocol).glob(pattern))


def open_folder(root: Path | None) -> DataFolder:
    """Return the data folder at `root`.

    Raises:
        InputError: No folder was named, or it holds no parallel text in a format that is read.
    """
    if root is None:
        raise InputError(
            "This needs parallel text, and none comes with the project.",
            field="--data",
            remedy=f"Name a folder with --data DIR. These formats are read:\n{FORMATS}",
        )
    if not (root / "parallel").is_dir():
        raise InputError(
            f"{root} has no folder `parallel`.",
            field="--data",
            given=str(root),
            remedy=f"These formats are read:\n{FORMATS}",
        )
    folder = DataFolder(root)
    if not folder.sources:
        raise InputError(
            f"{root / 'parallel'} holds no source in a format that is read.",
            field="--data",
            given=str(root),
            remedy=f"These formats are read:\n{FORMATS}",
        )
    return folder


def evaluation_sentences(
    folder: DataFolder, protocols: Iterable[str], *, passing: str = ""
) -> Iterator[str]:
    """Yield every sentence of the named evaluation sets, so that training can leave them out.

    Args:
        folder: The data folder.
        protocols: The sets.
        passing: Files whose names match this are passed over.
    """
    broken = BrokenLines("skip")
    for protocol in protocols:
        for path in folder.evaluation_files(protocol):
            if passing and path.match(passing):
                continue
            columns = [name for name in read_header(path) if name not in _NO_TEXT]
            for values in read_tsv(path, columns, broken):
                yield from values
