"""n-way line files."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.errors import InputError
from training.data.lines import BrokenLines
from training.data.nway import find_nway, read_nway


def _write(folder: Path, **columns: list[str]) -> None:
    for name, lines in columns.items():
        path = folder / name.replace("__", ".").replace("_", "-")
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def test_rows_hold_what_is_there(tmp_path: Path) -> None:
    _write(tmp_path, en__txt=["cat", "dog"], zh_hant__txt=["貓", ""], de__txt=["Katze", "Hund"])
    (tmp_path / "SOURCE.md").write_text("about")
    table = read_nway(tmp_path, broken=BrokenLines())
    assert list(table.rows()) == [
        {"de": "Katze", "en": "cat", "zh-hant": "貓"},
        {"de": "Hund", "en": "dog"},
    ]
    assert len(read_nway(tmp_path, languages={"en"}, broken=BrokenLines()).columns) == 1


def test_the_un_corpus_is_found_by_its_names(tmp_path: Path) -> None:
    (tmp_path / "UNv1.0.6way.en").write_text("Resolution 1\n")
    (tmp_path / "UNv1.0.6way.fr").write_text("Résolution 1\n")
    assert set(find_nway(tmp_path)) == {"en", "fr"}
    table = read_nway(tmp_path, broken=BrokenLines())
    assert list(table.rows()) == [{"en": "Resolution 1", "fr": "Résolution 1"}]


def test_a_file_of_another_length_is_left_out_whole(tmp_path: Path) -> None:
    _write(tmp_path, en__txt=["a", "b", "c"], de__txt=["a", "b", "c"], fr__txt=["a", "c"])
    broken = BrokenLines("skip")
    assert set(read_nway(tmp_path, broken=broken).columns) == {"en", "de"}
    assert broken.count == 2
    assert "2 lines where the other languages have 3" in str(broken.examples[0])
    with pytest.raises(InputError, match=r"fr\.txt: 2 lines"):
        read_nway(tmp_path, broken=BrokenLines("refuse"))


def test_a_broken_line_is_a_missing_sentence(tmp_path: Path) -> None:
    _write(tmp_path, en__txt=["a", "b"])
    (tmp_path / "de.txt").write_bytes(b"\xff\nb\n")
    rows = list(read_nway(tmp_path, broken=BrokenLines("skip")).rows())
    assert rows == [{"en": "a"}, {"de": "b", "en": "b"}]
