"""Which metrics the service has, and which ones a text names."""

from __future__ import annotations

import re
from pathlib import Path

from service.telemetry.metrics import Metrics

_SUFFIXES = ("", "_total", "_bucket", "_sum", "_count")


def declared_names() -> set[str]:
    """Return the sample names of every metric that the service declares."""
    metrics = Metrics()
    metrics.watch_corpora(lambda: [("any", 1)])
    metrics.watch_volume(Path("/"))
    families = {family.name for family in metrics.registry.collect()}
    return {family + suffix for family in families for suffix in _SUFFIXES}


def names_in(text: str) -> set[str]:
    """Return the metrics of the service that `text` names."""
    return set(re.findall(r"\binterlingua_[a-z_]+\b", text))
