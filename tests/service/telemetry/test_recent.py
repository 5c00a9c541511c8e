from __future__ import annotations

from service.inference.recent import RecentVectors
from service.telemetry.metrics import Metrics


def test_the_cache_is_read_when_asked_for() -> None:
    metrics, recent = Metrics(), RecentVectors()
    assert b"interlingua_cache_hits_total 0.0" in metrics.render()
    metrics.watch_recent(recent)
    recent.hits, recent.misses, recent.shared, recent.bytes = 3, 2, 1, 512
    text = metrics.render().decode()
    for line in (
        "interlingua_cache_hits_total 3.0",
        "interlingua_cache_misses_total 2.0",
        "interlingua_texts_shared_total 1.0",
        "interlingua_cache_bytes 512.0",
    ):
        assert line in text
