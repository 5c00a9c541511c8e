from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from service.classification.example import Example
from service.errors import InputError
from training.data.labelled_rows import language_of, read_labelled


def test_texts_and_pairs_are_read_by_their_columns(tmp_path: Path) -> None:
    texts = tmp_path / "de.dev.tsv.gz"
    texts.write_bytes(gzip.compress(b"id\tlabel\ttext\n1\ta\tEins\n2\tb\tZwei\n"))
    assert list(read_labelled(texts, language="de", labels=("b",))) == [
        Example("Zwei", ("b",), "de")
    ]
    assert language_of(texts) == "de"
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("premise\thypothesis\tlabel\np\th\tneutral\n")
    assert list(read_labelled(pairs)) == [Example("p", ("neutral",), None, "h")]


def test_other_columns_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("sentence\tlabel\na\tb\n")
    with pytest.raises(InputError, match="text and label are due"):
        list(read_labelled(path))


def test_blanks_around_a_label_are_no_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("text\tlabel\nEins\t a\nZwei\ta \n")
    assert [row.labels for row in read_labelled(path, labels=("a",))] == [("a",), ("a",)]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("Zwei\t", "x.tsv:3: A label is empty"),
        ("Zwei\t ", "x.tsv:3: A label is empty"),
        (" \tb", "x.tsv:3: The text is empty"),
        ("Zwei\tunknown", "x.tsv:3: 'unknown' is what is answered"),
        ("Zwei", r"x.tsv:3: 1 columns where the header has 2. Mend it\.$"),
    ],
)
def test_a_row_that_is_no_example_is_named(tmp_path: Path, row: str, said: str) -> None:
    """A blank label became a class, and ended in a traceback after the fit."""
    path = tmp_path / "x.tsv"
    path.write_text(f"text\tlabel\nEins\ta\n{row}\n")
    with pytest.raises(InputError, match=said):
        list(read_labelled(path))
