"""The page of metrics."""

from __future__ import annotations

from prometheus_client.metrics import MetricWrapperBase

from service.reference.markdown import page, table
from service.telemetry.metrics import Metrics

_INTRODUCTION = """\
`GET /metrics` gives these in Prometheus' text format, beside the usual ones of the process and of
Python. Times are seconds. A histogram has `_bucket`, `_sum` and `_count`."""


def metrics_page() -> str:
    """Return the page."""
    rows = [
        (f"`{name}`", kind, ", ".join(f"`{label}`" for label in labels), said)
        for name, kind, labels, said in _described()
    ]
    return page("Metrics", _INTRODUCTION, table(("metric", "kind", "labels", "what"), rows))


def _described() -> list[tuple[str, str, tuple[str, ...], str]]:
    metrics = Metrics()
    metrics.watch_corpora(lambda: [])
    labels: dict[str, tuple[str, ...]] = {}
    for held in vars(metrics).values():
        if isinstance(held, MetricWrapperBase):
            labels[held._name] = held._labelnames
    found = []
    for family in metrics.registry.collect():
        if not family.name.startswith("interlingua_"):
            continue
        name = f"{family.name}_total" if family.type == "counter" else family.name
        named = labels.get(family.name, ("corpus",) if name.endswith("index_vectors") else ())
        found.append((name, family.type, named, family.documentation))
    return sorted(found)
