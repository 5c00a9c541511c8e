"""Word vectors in word2vec's text format."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from service.errors import InputError
from training.data.lines import BrokenLines
from training.data.word_vectors import read_word_vectors

MULTI_CCA = """\
5 3
en:house 1.0 0.5 -2e-1
de:Haus 0.9 0.4 -0.1
en:die 1 0 0
de:die 0 1 0
ru:дом 7 7 7
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_words_of_several_languages(tmp_path: Path) -> None:
    path = write(tmp_path, MULTI_CCA)
    found = read_word_vectors(path, languages=("en", "de"), broken=BrokenLines())
    assert found.width == 3
    assert set(found.vectors) == {"house", "haus", "die"}
    np.testing.assert_allclose(found.vectors["house"], [1.0, 0.5, -0.2])
    np.testing.assert_allclose(found.vectors["die"], [0.5, 0.5, 0.0])  # one row for both


def test_words_without_a_language_and_with_blanks(tmp_path: Path) -> None:
    path = tmp_path / "vectors.vec.gz"
    path.write_bytes(gzip.compress(b"3 2\nhouse 1 2\nNew York 3 4\n: 5 6\n"))
    found = read_word_vectors(path, languages=("en",), broken=BrokenLines())
    assert set(found.vectors) == {"house", "new york", ":"}
    np.testing.assert_allclose(found.vectors["new york"], [3, 4])


def test_broken_lines_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, "3 3\nhouse 1 2 3\ntree 1 x 3\nriver 1 2\n")
    with pytest.raises(InputError, match=r"vectors\.txt:3"):
        read_word_vectors(path, languages=(), broken=BrokenLines("refuse"))
    broken = BrokenLines("skip")
    found = read_word_vectors(path, languages=(), broken=broken)
    assert set(found.vectors) == {"house"}
    assert [line.line for line in broken.examples] == [3, 4]


@pytest.mark.parametrize("header", ["", "house 1 2 3", "3", "3 0"])
def test_a_first_line_that_is_none_is_refused(tmp_path: Path, header: str) -> None:
    with pytest.raises(InputError, match="first line"):
        read_word_vectors(write(tmp_path, f"{header}\n"), languages=(), broken=BrokenLines())


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_word_vectors(tmp_path / "none.txt", languages=(), broken=BrokenLines())


@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_a_gzip_file_that_is_damaged_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "vectors.vec.gz"
    lines = ["9000 2\n", *(f"word{n} {n} {n * n}\n" for n in range(9000))]
    whole = gzip.compress("".join(lines).encode())
    middle = len(whole) // 2
    rest = b"" if damage == "cut" else b"\xff" * 200 + whole[middle + 200 :]
    path.write_bytes(whole[:middle] + rest)
    with pytest.raises(InputError, match=r"vectors\.vec\.gz cannot be read"):
        read_word_vectors(path, languages=(), broken=BrokenLines("skip"))


def test_whole_words_of_a_vocabulary_are_filled(tmp_path: Path) -> None:
    found = read_word_vectors(
        write(tmp_path, MULTI_CCA), languages=("en", "de"), broken=BrokenLines()
    )
    table = np.zeros((4, 3), dtype=np.float32)
    assert found.fill(table, ["<pad>", "▁house", "haus", "▁die"]) == 2
    np.testing.assert_allclose(table[1], [1.0, 0.5, -0.2])
    assert not table[[0, 2]].any()  # `haus` is the inside of a word here
    assert found.fill(table, ["<pad>", "house", "haus", "tree"]) == 2  # plain words
    with pytest.raises(InputError, match="embedding=3"):
        found.fill(np.zeros((1, 4), dtype=np.float32), ["house"])
