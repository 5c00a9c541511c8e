"""The shipped model that benchmarks of the server itself run where none is named."""

from __future__ import annotations

from pathlib import Path

FAST = Path(__file__).parents[1] / "models" / "interlingua-fast"
"""It computes next to nothing, so that what surrounds a model is what is measured."""
