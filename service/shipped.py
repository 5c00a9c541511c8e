"""Where the models and the demo corpus that come with the package lie."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent
_PLACES = (_PACKAGE / "models", _PACKAGE.parent / "models")
"""Inside an installed wheel, and beside the package in a checkout."""

DEMO_CORPUS = _PACKAGE / "demo" / "corpus.jsonl"

_PREFERENCE = ("interlingua-mini", "interlingua-fast")
"""Which shipped encoder is the default: the first of these that is there (docs/decisions/0023)."""


def shipped_models() -> list[Path]:
    """Return the directories of shipped encoder bundles, the default one first."""
    found = {path.parent.name: path.parent for path in _find("bundle.json")}
    order = [name for name in _PREFERENCE if name in found]
    return [found[name] for name in order + sorted(set(found) - set(order))]


def default_models() -> list[Path]:
    """Return the directory of the shipped bundle that is served when none is named, if any is."""
    return shipped_models()[:1]


def shipped_heads() -> list[Path]:
    """Return the directories of shipped classifier bundles."""
    return sorted(path.parent for path in _find("head.json"))


def _find(file: str) -> list[Path]:
    return [path for place in _PLACES for path in place.glob(f"*/{file}")]
