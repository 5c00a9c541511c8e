"""Amazon reviews in the XML of CLS-10."""

from pathlib import Path

import pytest

from service.errors import InputError
from training.data.amazon import read_reviews
from training.data.labelled import LabelledText
from training.data.lines import BrokenLines

ITEM = """<item><category>books</category><rating>{rating}</rating><url>u</url>
<text>{text}</text><title>T</title><summary>{summary}</summary><reviewer>r</reviewer></item>
"""


def write(path: Path, *items: str) -> Path:
    content = '<?xml version="1.0" encoding="utf-8"?>\n<items>' + "".join(items) + "</items>\n"
    path.write_text(content, encoding="utf-8")
    return path


def test_summary_and_text_in_one_labelled_by_stars(tmp_path: Path) -> None:
    path = write(
        tmp_path / "train.review",
        ITEM.format(rating="5.0", summary="Très bien", text="Je l'ai lu &amp; aimé.\n"),
        ITEM.format(rating="3.0", summary="Bof", text="Moyen."),
        ITEM.format(rating="1", summary="", text="Mauvais."),
        "<item><rating>4.0</rating><summary>Seul</summary></item>",
    )
    assert list(read_reviews(path, BrokenLines())) == [
        LabelledText("Très bien Je l'ai lu & aimé.", "positive"),
        LabelledText("Mauvais.", "negative"),
        LabelledText("Seul", "positive"),
    ]


def test_broken_items_are_named_or_counted(tmp_path: Path) -> None:
    path = write(
        tmp_path / "test.review",
        ITEM.format(rating="5", summary="a", text="b"),
        ITEM.format(rating="five", summary="a", text="b"),
        ITEM.format(rating="5", summary=" ", text=""),
    )
    with pytest.raises(InputError, match=r"test\.review:2: an item whose rating is 'five'"):
        list(read_reviews(path, BrokenLines("refuse")))
    broken = BrokenLines("skip")
    assert len(list(read_reviews(path, broken))) == 1
    assert broken.count == 2


def test_a_file_that_is_no_xml_or_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cut.review").write_text("<items><item><rating>5", encoding="utf-8")
    with pytest.raises(InputError, match="no XML"):
        list(read_reviews(tmp_path / "cut.review", BrokenLines("skip")))
    with pytest.raises(InputError, match="cannot be read"):
        list(read_reviews(tmp_path / "missing.review", BrokenLines("skip")))
