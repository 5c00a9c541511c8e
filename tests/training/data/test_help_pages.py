"""LibreOffice's help as n-way text."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.errors import InputError
from training.data.corpus import CorpusPlan, build_corpus
from training.data.folder import DataFolder
from training.data.help_pages import find_help, read_help
from training.data.lines import BrokenLines

PAGES = {
    "en-US": """<body><h1 id="hd_id1" dir="auto">
<a name="x"></a>Adding Exceptions &amp; more
</h1><li><p id="par_id2" class="listitem">Choose <span class="menuitem">Tools - Options</span>,
  and then click.</p></li><p id="par_id3">Click New twice.</p><p id="par_id4">Ctrl</p></body>""",
    "hi": """<h1 id="hd_id1">अपवाद जोड़ना और अधिक</h1><p id="par_id3">Click New twice.</p>
<p>बिना निशान के अनुच्छेद</p>""",
    "zh-CN": '<p id="par_id2">选择“工具 - 选项”，然后单击这里。</p>',
}


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "parallel/help"
    for code, content in PAGES.items():
        page = folder / code / "text/shared/guide/page.html"
        page.parent.mkdir(parents=True)
        page.write_text(content, encoding="utf-8")
    (folder / "media").mkdir()
    return folder


def test_paragraphs_of_one_mark_are_a_row(pages: Path) -> None:
    assert list(find_help(pages)) == ["en", "hi", "zh"]
    rows = list(read_help(pages, broken=BrokenLines()).rows())
    assert rows == [
        {"en": "Adding Exceptions & more", "hi": "अपवाद जोड़ना और अधिक"},
        {
            "en": "Choose Tools - Options, and then click.",
            "zh": "选择“工具 - 选项”，然后单击这里。",
        },
        {"en": "Click New twice."},  # the Hindi page repeats it
    ]


def test_only_the_languages_asked_for_are_read(pages: Path) -> None:
    table = read_help(pages, languages=("en", "hi"), broken=BrokenLines())
    assert list(table.columns) == ["en", "hi"]


def test_a_page_that_is_not_text_is_named(pages: Path) -> None:
    (pages / "hi/text/shared/guide/page.html").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"hi/text/shared/guide/page\.html: not UTF-8"):
        read_help(pages, broken=BrokenLines())


def test_a_corpus_reads_the_folder(pages: Path) -> None:
    folder = DataFolder(pages.parents[1])
    assert folder.sources == ("help",)
    corpus = build_corpus(folder, CorpusPlan(sources=("help",), languages=("en", "hi")))
    ((left, right),) = corpus.pairs
    assert corpus.texts[left] == "अपवाद जोड़ना और अधिक"
    assert corpus.texts[right] == "Adding Exceptions & more"
