"""Moses pairs."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from service.errors import InputError
from training.data.lines import BrokenLines
from training.data.moses import find_moses, read_moses


def _write(folder: Path, name: str, text: str) -> None:
    content = text.encode()
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)


@pytest.mark.parametrize(
    ("stem", "source", "target"),
    [
        ("de-en", "de", "en"),
        ("en-zh-hant", "en", "zh-hant"),
        ("sr-latn-tr", "sr-latn", "tr"),
        ("europarl-v7.de-en", "de", "en"),
        ("UNv1.0.en-fr", "en", "fr"),
    ],
)
def test_pairs_are_found_by_their_names(
    tmp_path: Path, stem: str, source: str, target: str
) -> None:
    _write(tmp_path, f"{stem}.{source}.gz", "one\n")
    _write(tmp_path, f"{stem}.{target}", "two\n")
    _write(tmp_path, f"{stem}.ids", "7\n")
    (files,) = find_moses(tmp_path)
    assert (files.source, files.target) == (source, target)
    assert list(read_moses(files, BrokenLines())) == [("one", "two")]


def test_a_file_without_its_partner_is_no_pair(tmp_path: Path) -> None:
    _write(tmp_path, "de-en.de", "eins\n")
    assert find_moses(tmp_path) == []


def test_an_empty_side_is_counted_or_refused(tmp_path: Path) -> None:
    _write(tmp_path, "de-en.de", "eins\n \ndrei\n")
    _write(tmp_path, "de-en.en", "one\ntwo\nthree\n")
    (files,) = find_moses(tmp_path)
    broken = BrokenLines("skip")
    assert list(read_moses(files, broken)) == [("eins", "one"), ("drei", "three")]
    assert [str(line) for line in broken.examples] == [f"{files.source_file}:2: an empty side"]
    with pytest.raises(InputError, match=r"de-en\.de:2: an empty side"):
        list(read_moses(files, BrokenLines("refuse")))


def test_files_of_unequal_length_give_nothing(tmp_path: Path) -> None:
    _write(tmp_path, "de-en.de", "eins\n")
    _write(tmp_path, "de-en.en", "one\ntwo\n")
    broken = BrokenLines("skip")
    assert list(read_moses(find_moses(tmp_path)[0], broken)) == []
    assert broken.count == 2


def test_a_line_that_is_not_utf8_takes_its_partner_along(tmp_path: Path) -> None:
    (tmp_path / "de-en.de").write_bytes(b"eins\n\xff\n")
    _write(tmp_path, "de-en.en", "one\ntwo\n")
    broken = BrokenLines("skip")
    assert list(read_moses(find_moses(tmp_path)[0], broken)) == [("eins", "one")]
    assert broken.count == 1
