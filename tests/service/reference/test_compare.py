from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "compare.md"


@pytest.mark.skipif(not PAGE.exists(), reason="no docs in this installation")
def test_each_test_that_the_table_names_is_there() -> None:
    named = re.findall(r"`(tests/[\w/.]+)`", PAGE.read_text(encoding="utf-8"))
    assert len(named) >= 10
    assert [name for name in named if not (ROOT / name).exists()] == []
