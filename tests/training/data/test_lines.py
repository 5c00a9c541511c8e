"""Lines of text files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from service.errors import InputError
from training.data.lines import BrokenLines, read_lines


def test_gzip_and_plain_read_alike(tmp_path: Path) -> None:
    content = "Grüße\n\n猫がいる。\n".encode()
    (tmp_path / "a.txt").write_bytes(content)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(content))
    plain = read_lines(tmp_path / "a.txt", BrokenLines())
    assert plain == ["Grüße", "", "猫がいる。"]
    assert read_lines(tmp_path / "a.txt.gz", BrokenLines()) == plain


def test_line_breaks_of_unicode_and_windows_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("one\u2028two\r\nthree\u0085four\n".encode())
    assert read_lines(path, BrokenLines()) == ["one\u2028two", "three\u0085four"]


def test_a_last_line_without_end_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\ntwo")
    assert read_lines(path, BrokenLines()) == ["one", "two"]


@pytest.mark.parametrize(
    ("line", "reason"), [(b"caf\xe9", "not UTF-8 at byte 3"), (b"a\0b", "a NUL character")]
)
def test_a_broken_line_keeps_its_place_or_is_refused(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\n" + line + b"\nthree\n")
    broken = BrokenLines("skip")
    assert read_lines(path, broken) == ["one", None, "three"]
    assert broken.count == 1
    assert str(broken.examples[0]) == f"{path}:2: {reason}"
    with pytest.raises(InputError, match=f"a.txt:2: {reason}"):
        read_lines(path, BrokenLines("refuse"))


def test_a_cut_gzip_file_is_refused_even_where_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n" * 1000)[:-20])
    with pytest.raises(InputError, match="damaged or cut"):
        read_lines(path, BrokenLines("skip"))
