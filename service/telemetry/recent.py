"""The metrics of `inference.recent`: counted there, read when asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


class Kept(Protocol):
    """What is kept of recent texts.

    Attributes:
        hits: Texts that were answered from it.
        misses: Texts that were not.
        shared: Texts that were computed together with an equal one.
        bytes: Of the vectors in it.
    """

    hits: int
    misses: int
    shared: int
    bytes: int


class RecentCollector(Collector):
    """`interlingua_cache_*`; all zero where nothing is watched yet."""

    def __init__(self) -> None:
        self.kept: Kept | None = None

    def describe(self) -> Iterable[Metric]:
        """Name the metrics."""
        return self.collect()

    def collect(self) -> Iterable[Metric]:
        """Give what was counted until now."""
        kept = self.kept
        yield CounterMetricFamily(
            "interlingua_cache_hits", "Texts answered from kept vectors", kept.hits if kept else 0
        )
        yield CounterMetricFamily(
            "interlingua_cache_misses", "Texts not found among them", kept.misses if kept else 0
        )
        yield CounterMetricFamily(
            "interlingua_texts_shared",
            "Texts computed together with an equal one",
            kept.shared if kept else 0,
        )
        yield GaugeMetricFamily(
            "interlingua_cache_bytes", "Bytes of kept vectors", kept.bytes if kept else 0
        )
