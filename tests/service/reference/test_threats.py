"""Each threat in docs/security.md names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ROWS = [
    line.split("|")[1:-1]
    for line in (ROOT / "docs" / "security.md").read_text().splitlines()
    if line.startswith("|") and "`tests/" in line
]


def test_there_are_rows() -> None:
    assert len(ROWS) >= 20


@pytest.mark.parametrize("row", ROWS, ids=[row[0].strip()[:40] for row in ROWS])
def test_its_tests_are_there(row: list[str]) -> None:
    named = re.findall(r"`(tests/[^`]+)`", row[2])
    assert named
    for test in named:
        file, _, name = test.partition("::")
        text = (ROOT / file).read_text()
        assert re.search(rf"def {name or 'test_'}", text), test
