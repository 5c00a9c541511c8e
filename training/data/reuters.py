r"""Documents of the Reuters corpora RCV1 and RCV2 in the two forms they are classified in.

- CLDC (Klementiev et al. 2012): a folder a set (`train/EN1000`, `test/de` ...), in it a folder a
  class (C E G M) with a file a document, a tokenised sentence a line
- MLDoc (Schwenk & Li 2018) and the RCV2 subsets made like it: `<set>.<lang>` or `<lang>.<set>`
  TSV files without a header, a document a line: `CCAT<TAB>text`. The script that makes them under
  Python 3 writes the text as a bytes literal, `b'...'`, which is read back.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from service.errors import InputError
from training.data.labelled import LabelledText
from training.data.lines import BrokenLines, read_lines

CLASSES = ("C", "E", "G", "M")
"""Corporate and industrial, economics, government and social, markets; in MLDoc with CAT after."""


def read_cldc(folder: Path, broken: BrokenLines) -> Iterator[LabelledText]:
    """Yield the documents of one set, sentences a line, class by class, files sorted by name.

    Args:
        folder: Of the set: `train/EN1000`, `test/de`.
        broken: Takes files without any sentence and lines that cannot be read.

    Raises:
        InputError: The folder has none of the four classes, or a broken line is refused.
    """
    classes = [name for name in CLASSES if (folder / name).is_dir()]
    if not classes:
        raise InputError(
            f"{folder} has none of the folders {', '.join(CLASSES)}.",
            remedy="Name the folder of one set, such as train/EN1000.",
        )
    for name in classes:
        for path in sorted((folder / name).iterdir()):
            lines = [line.strip() for line in read_lines(path, broken) if line and line.strip()]
            if lines:
                yield LabelledText("\n".join(lines), name)
            else:
                broken.add(path, 0, "a document without a sentence")


def read_mldoc(path: Path, broken: BrokenLines) -> Iterator[LabelledText]:
    """Yield the documents of one set and language; labels are as they stand (`CCAT`, `C`)."""
    known = {*CLASSES, *(f"{name}CAT" for name in CLASSES)}
    for number, line in enumerate(read_lines(path, broken), start=1):
        if line is None:
            continue  # counted when it was read
        label, tab, text = line.partition("\t")
        if not tab or label not in known:
            broken.add(path, number, "no line of `CCAT|ECAT|GCAT|MCAT <TAB> text`")
            continue
        document = _literal(text)
        if document is None or not document.strip():
            broken.add(path, number, "no text" if document is not None else "a broken b'' literal")
            continue
        yield LabelledText(document, label)


def _literal(text: str) -> str | None:
    """Return `text`, or what it says where it is a bytes literal; None where that is broken."""
    if not text.startswith(("b'", 'b"')):
        return text
    try:
        value = ast.literal_eval(text.strip())
        return value.decode("utf-8") if isinstance(value, bytes) else None
    except (ValueError, SyntaxError):  # UnicodeDecodeError is a ValueError
        return None
