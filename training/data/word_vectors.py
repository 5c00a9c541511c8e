"""Word vectors in word2vec's text format, of one language or of many in one space (multiCCA).

The first line holds the number of words and the width E, each other line a word and E numbers, with
blanks between. Files of several languages put the language before the word, as in `en:house`
(Ammar et al. 2016, Massively Multilingual Word Embeddings, whose multiCCA vectors Yu, Li & Oguz
2018 begin with).
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from service.errors import InputError
from training.data.lines import BrokenLines

Array = npt.NDArray[np.float32]

_WORD_BEGIN = "▁"


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Vectors of words.

    Attributes:
        width: E.
        vectors: Word -> float32 [E]; the mean where several languages have the word, since a
            vocabulary shared by all languages has one row for it.
    """

    width: int
    vectors: Mapping[str, Array]

    def fill(self, table: Array, pieces: Sequence[str]) -> int:
        """Put the vectors of those `pieces` that are whole words into `table`.

        Args:
            table: float32 [V, E], changed in place.
            pieces: The vocabulary, SentencePiece's (`▁` where a word begins) or of plain words.

        Returns:
            How many rows were filled.

        Raises:
            InputError: The widths differ.
        """
        if table.shape[1] != self.width:
            raise InputError(
                f"The word vectors have {self.width} numbers, the table has {table.shape[1]}.",
                field="embedding",
                given=table.shape[1],
                remedy=f"Set embedding={self.width}.",
            )
        marked = any(piece.startswith(_WORD_BEGIN) for piece in pieces)
        filled = 0
        for row, piece in enumerate(pieces):
            # Without the mark a piece is the inside of a word, not the word that is spelt alike.
            if marked and not piece.startswith(_WORD_BEGIN):
                continue
            vector = self.vectors.get(piece.removeprefix(_WORD_BEGIN))
            if vector is not None:
                table[row] = vector
                filled += 1
        return filled


def read_word_vectors(path: Path, *, languages: Sequence[str], broken: BrokenLines) -> WordVectors:
    """Read the word vectors in `path`, plain or gzip; words are folded as the vocabulary folds.

    Args:
        path: The file.
        languages: Of words with a language before them, only these are read.
        broken: Takes lines with another number of numbers.

    Raises:
        InputError: The file cannot be read or its first line is not `words width`.
    """
    sums: dict[str, Array] = {}
    counts: dict[str, int] = {}
    lines = _lines(path)
    width = _width(path, next(lines, ""))
    for number, line in enumerate(lines, start=2):
        parts = line.rstrip().rsplit(" ", width)  # a word may hold blanks, a number may not
        word = _word(parts[0], languages)
        if word is None:
            continue
        try:
            vector = np.array(parts[1:], dtype=np.float32)
        except ValueError:
            broken.add(path, number, "what stands after the word is no row of numbers")
            continue
        if len(vector) != width:
            broken.add(path, number, f"{len(vector)} numbers where {width} are due")
            continue
        sums[word] = sums[word] + vector if word in sums else vector
        counts[word] = counts.get(word, 0) + 1
    means = {word: (total / counts[word]).astype(np.float32) for word, total in sums.items()}
    return WordVectors(width, means)


def _word(text: str, languages: Sequence[str]) -> str | None:
    """Return the word without its language; None where the language is not wanted."""
    before, colon, word = text.partition(":")
    if colon and word and 2 <= len(before) <= 3 and before.isalpha() and before.islower():
        return word.casefold() if before in languages else None
    return text.casefold()


def _lines(path: Path) -> Iterator[str]:
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8", errors="replace", newline="\n") as file:
            yield from file
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{path} cannot be read: {error}.", field="word_vectors", given=str(path)
        ) from error


def _width(path: Path, header: str) -> int:
    parts = header.split()
    if len(parts) == 2 and all(part.isdigit() for part in parts) and int(parts[1]):
        return int(parts[1])
    raise InputError(
        f"{path}:1: the first line must hold the number of words and the width.",
        field="word_vectors",
        given=header[:60],
        remedy="Give a file in word2vec's text format.",
    )
