from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from service.bulk.items import Item, read_items
from service.bulk.sources import FieldNames
from service.errors import InputError, NotFoundError, SettingsError


def read(*paths: Path, **names: str) -> list[Item]:
    return list(read_items([str(path) for path in paths], names=FieldNames(**names)))


def test_lines_of_text_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "a.b.txt"
    path.write_bytes("one\r\n\n  \nvier ü\n".encode())
    assert read(path) == [Item("a.b:1", "one"), Item("a.b:4", "vier ü")]
    packed = tmp_path / "a.b.txt.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read(packed) == read(path)


def test_records_bring_ids_and_languages(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 7, "text": "x", "language": "de"}\n{"text": "y"}\n')
    assert read(path) == [Item("7", "x", "de"), Item("a:2", "y")]
    path.write_text('{"key": "k", "body": "x"}\n')
    assert read(path, id="key", text="body") == [Item("k", "x")]


def test_null_is_no_id(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": null, "text": "x"}\n{"id": "", "text": "y"}\n{"id": 0, "text": "z"}\n')
    assert [item.id for item in read(path)] == ["a:1", "a:2", "0"]


@pytest.mark.parametrize("name", ["x.txt", "x.jsonl"])
def test_files_whose_ids_would_be_the_same_are_refused(tmp_path: Path, name: str) -> None:
    paths = [tmp_path / folder / name for folder in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        path.write_text('{"text": "one"}\n')
    with pytest.raises(SettingsError, match=f"{paths[0]} and {paths[1]}") as caught:
        read(*paths)
    assert "--id-field" in str(caught.value)
    paths[1].rename(tmp_path / "b" / f"y.{name}")
    assert [item.id for item in read(paths[0], tmp_path / "b" / f"y.{name}")] == ["x:1", "y.x:1"]


def test_parquet_is_read(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"id": ["p", "q"], "text": ["x", "y"]}), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet") == [Item("p", "x"), Item("q", "y")]


@pytest.mark.parametrize(
    "line", ['{"id": "a"}', '{"text": ""}', '{"text": 5}', "[1]", "{broken", '{"text": null}']
)
def test_a_record_without_text_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "fine"}\n' + line + "\n")
    with pytest.raises(InputError, match=r"Record 2 of .*a\.jsonl"):
        read(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"nothing\.txt"):
        read(tmp_path / "nothing.txt")


def test_lines_in_a_file_that_breaks_off_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n")[:-9])
    with pytest.raises(InputError, match=r"a\.txt\.gz cannot be read"):
        read(path)


def test_a_name_says_what_a_file_holds_in_capitals_too(tmp_path: Path) -> None:
    path = tmp_path / "NOTES.TXT"
    path.write_text("one\n")
    assert read(path) == [Item("NOTES:1", "one")]


def test_a_name_that_says_nothing_is_refused_with_what_the_command_can_do(tmp_path: Path) -> None:
    path = tmp_path / "notes.dump"
    path.write_text("one\n")
    with pytest.raises(InputError, match=r"notes\.dump") as caught:
        read(path)
    assert caught.value.remedy is not None
    assert "--format" not in caught.value.remedy  # of `interlingua index`; here it is the output's
