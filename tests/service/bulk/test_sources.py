from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from service.bulk.sources import LONGEST_CELL, STDIN, FieldNames, GeneratedIds, Source
from service.errors import InputError, SettingsError


@pytest.mark.parametrize(
    ("path", "id"),
    [
        ("news.jsonl", "news:3"),
        ("dir.d/news.csv.gz", "news:3"),
        ("news.parquet", "news:3"),
        ("NEWS.TSV", "NEWS:3"),
        ("news.dump", "news:3"),  # read with --format
        ("news.dump.gz", "news:3"),
        ("news", "news:3"),
        ("news.2023.jsonl", "news.2023:3"),
        ("news.2023.txt.gz", "news.2023:3"),
        ("news.2023.dump", "news.2023.dump:3"),
        (".news.jsonl", ".news:3"),
        (STDIN, "stdin:3"),
    ],
)
def test_an_id_is_the_name_without_its_format_and_the_number(path: str, id: str) -> None:
    assert GeneratedIds([path]).make(path, 3) == id


@pytest.mark.parametrize(
    "paths",
    [
        ["a/x.jsonl", "b/x.jsonl"],
        ["y.csv", "x.jsonl", "x.csv.gz"],
        ["stdin.jsonl", STDIN],
        ["x.txt", "x.txt"],
    ],
)
def test_ids_that_two_inputs_would_share_are_refused(paths: list[str]) -> None:
    ids = GeneratedIds(paths)
    for path in paths[-2:]:
        with pytest.raises(SettingsError, match=f"{paths[-2]} and {paths[-1]}") as caught:
            ids.make(path, 1)
        assert caught.value.field == "path"
        assert caught.value.remedy is not None


def test_names_that_differ_past_a_dot_are_told_apart() -> None:
    paths = ["news.2023.jsonl", "news.2024.jsonl"]
    ids = GeneratedIds(paths)
    assert [ids.make(path, 1) for path in paths] == ["news.2023:1", "news.2024:1"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("inside", ["\u2028", "\x85", "\x0b", "\x0c", "\x1e"])
def test_a_row_of_a_table_ends_at_a_line_break_alone(tmp_path: Path, inside: str, end: str) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(f"id\ttext{end}1\ta{inside}b{end}2\tc{end}".encode())
    records = [{"id": "1", "text": f"a{inside}b"}, {"id": "2", "text": "c"}]
    assert list(Source(str(path)).records()) == list(enumerate(records, start=1))


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "a"}\n{"text": "b"}\n')
    assert list(Source(str(path)).records()) == [(1, {"text": "a"}), (2, {"text": "b"})]


def test_a_line_of_text_is_a_record_whatever_the_fields_are_called(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffone\r\n\n caf\xe9 \u2028x\n".encode() + b"caf\xe9\n")
    source = Source(str(path))
    assert source.names(FieldNames(text="body")).text == "text"
    *records, (number, broken) = source.records()
    assert records == [(1, {"text": "one"}), (3, {"text": " caf\xe9 \u2028x"})]
    assert number == 4
    assert isinstance(broken, InputError)
    assert "no UTF-8" in broken.message


PACKED = gzip.compress(b'{"text": "a"}\n' * 9, mtime=0)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("nothing.jsonl", None),
        ("half.jsonl.gz", PACKED[:-9]),
        ("checksum.csv.gz", PACKED[:-8] + bytes(8)),
        ("bits.jsonl.gz", PACKED[:12] + b"\xff" * 9 + PACKED[21:]),
        ("no-gzip.jsonl.gz", b'{"text": "a"}'),
        ("latin.csv", "text\ncafé\n".encode("latin-1")),
        ("cell.csv", b"text\n" + b"x" * (LONGEST_CELL + 1)),
        ("no-parquet.parquet", b"text"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_a_remedy(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow", reason="the extra for Parquet is not installed")
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=rf"{name} cannot be read: \S") as caught:
        list(Source(str(path)).records())
    assert caught.value.remedy is not None
