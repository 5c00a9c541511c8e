from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
GUIDE = ROOT / "CONTRIBUTING.md"

pytestmark = pytest.mark.skipif(not GUIDE.exists(), reason="not a checkout")


def named() -> set[str]:
    """The paths of the annotated tree."""
    tree = re.search(r"^```\n(service/.*?)```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    assert tree is not None
    found, parent = set(), ""
    for line in tree[1].splitlines():
        if line.startswith("   "):  # goes on with what the line before says
            continue
        names = re.split(r"  +", line.strip())[0].split(" ")
        inside = parent if line.startswith("  ") else ""
        found |= {inside + name for name in names}
        if not inside:
            parent = names[0] if len(names) == 1 else ""
    return found


def test_what_the_tree_names_is_there() -> None:
    assert [name for name in named() if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("package", ["service", "training"])
def test_every_package_is_named(package: str) -> None:
    there = {f"{package}/{path.parent.name}/" for path in (ROOT / package).glob("*/__init__.py")}
    assert there - named() == set(), "add it to the tree in CONTRIBUTING.md"


def test_the_citation_can_be_read() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["license"] == "Apache-2.0"
    assert all(reference["authors"] for reference in citation["references"])
