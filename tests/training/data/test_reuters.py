"""CLDC folders and MLDoc files, on files of the exact format."""

from pathlib import Path

import pytest

from service.errors import InputError
from training.data.labelled import LabelledText
from training.data.lines import BrokenLines
from training.data.reuters import read_cldc, read_mldoc


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def test_cldc_is_a_folder_a_class_and_a_file_a_document(tmp_path: Path) -> None:
    root = tmp_path / "train" / "EN1000"
    write(root / "C" / "2286newsML.txt", "shares rose .\nprofit was up .\n")
    write(root / "M" / "12newsML.txt", "the dollar fell .\n\n")
    write(root / "C" / "100newsML.txt", "a merger .\n")
    assert list(read_cldc(root, BrokenLines())) == [
        LabelledText("a merger .", "C"),
        LabelledText("shares rose .\nprofit was up .", "C"),
        LabelledText("the dollar fell .", "M"),
    ]


def test_an_empty_cldc_document_is_named(tmp_path: Path) -> None:
    write(tmp_path / "E" / "1.txt", "\n")
    with pytest.raises(InputError, match=r"E/1\.txt: a document without a sentence"):
        list(read_cldc(tmp_path, BrokenLines("refuse")))
    skipped = BrokenLines("skip")
    assert not list(read_cldc(tmp_path, skipped))
    assert skipped.count == 1


def test_a_folder_without_classes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none of the folders C, E, G, M"):
        list(read_cldc(tmp_path, BrokenLines()))


def test_mldoc_is_a_document_a_line(tmp_path: Path) -> None:
    path = write(
        tmp_path / "mldoc.train1000.de",
        "MCAT\tDer Dollar fiel. Der Yen stieg.\n"
        "GCAT\tb'Die Wahl: \\xc3\\xbcberraschend. \"Ja\"\\n'\n"
        "C\tEine Fusion\n",
    )
    assert list(read_mldoc(path, BrokenLines())) == [
        LabelledText("Der Dollar fiel. Der Yen stieg.", "MCAT"),
        LabelledText('Die Wahl: überraschend. "Ja"\n', "GCAT"),
        LabelledText("Eine Fusion", "C"),
    ]


@pytest.mark.parametrize(
    "line", ["no tab", "SPORT\ttext", "CCAT\t", "CCAT\tb'cut", "CCAT\tb'\\xff'"]
)
def test_broken_lines_are_named_or_counted(line: str, tmp_path: Path) -> None:
    path = write(tmp_path / "x", f"CCAT\tgood\n{line}\nECAT\tgood too\n")
    with pytest.raises(InputError, match=r"x:2: "):
        list(read_mldoc(path, BrokenLines("refuse")))
    broken = BrokenLines("skip")
    assert [row.text for row in read_mldoc(path, broken)] == ["good", "good too"]
    assert broken.count == 1
