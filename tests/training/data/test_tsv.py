"""TSV with a header."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.errors import InputError
from training.data.lines import BrokenLines
from training.data.tsv import read_all, read_header, read_tsv


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "en.train.tsv"
    file.write_text('id\tlabel\ttext\n1\tfood\tA "hot" soup.\n2\tfood\n3\tsport\tRun!\n')
    return file


def test_columns_come_in_the_order_asked_for(path: Path) -> None:
    broken = BrokenLines("skip")
    rows = list(read_tsv(path, ("text", "label"), broken))
    assert rows == [('A "hot" soup.', "food"), ("Run!", "sport")]
    assert str(broken.examples[0]) == f"{path}:3: 2 columns where the header has 3"


def test_a_broken_row_is_refused(path: Path) -> None:
    with pytest.raises(InputError, match=r"en\.train\.tsv:3: 2 columns"):
        list(read_tsv(path, ("text",), BrokenLines("refuse")))


def test_a_missing_column_is_named_with_those_there_are(path: Path) -> None:
    with pytest.raises(InputError, match="lacks score; it has 'id, label, text'"):
        list(read_tsv(path, ("score",), BrokenLines("skip")))


def test_a_file_to_measure_with_has_rows(path: Path) -> None:
    path.write_text("text\tlabel\nRun!\tsport\n")
    assert read_all(path, ("label", "text")) == [("sport", "Run!")]
    path.write_text("text\tlabel\n")
    with pytest.raises(InputError, match=r"en\.train\.tsv has a header and no row"):
        read_all(path, ("text",))


def test_an_empty_file_has_no_header(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_bytes(b"")
    with pytest.raises(InputError, match="header row is due"):
        read_header(tmp_path / "x.tsv")
