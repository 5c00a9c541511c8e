"""Metadata filters, compiled to SQL with bound parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Filter: TypeAlias = Mapping[str, object]
"""A parsed JSON object: `{"topic": "law"}`, `{"year": {"gte": 2000}}`, `{"or": [...]}`."""
