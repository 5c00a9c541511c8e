"""What the large-scale search asks for, and what it says where it cannot ask."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from benchmarks.drills.fleet import free_port
from benchmarks.search.large_scale import Client, lines_of_all, named_file


def test_only_lines_that_all_files_have_are_looked_for(tmp_path: Path) -> None:
    contents = {"en": "a\n\nc\nd\ne\n", "de": "a\nb\nc\n \n"}
    files = {name: tmp_path / name for name in contents}
    for name, text in contents.items():
        files[name].write_text(text)
    assert lines_of_all(files, 100) == [0, 2]
    assert lines_of_all(files, 2) == [0]


def test_nobody_at_the_address_is_said() -> None:
    with pytest.raises(SystemExit, match="nobody answers at http://127"):
        Client(f"http://127.0.0.1:{free_port()}", "corpus").call("GET", "/health", b"")


@pytest.mark.parametrize("text", ["en.txt", "=en.txt", "en=", "en=nothing.txt"])
def test_a_file_without_language_or_place_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        named_file(text)
