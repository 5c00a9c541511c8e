from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from service.errors import StorageError
from service.inference.engine import Observer
from service.inference.request import Embedded
from service.telemetry import metrics as declared
from service.telemetry.metrics import Metrics

DECLARED = {
    "interlingua_requests", "interlingua_request_seconds", "interlingua_tokenize_seconds",
    "interlingua_queue_seconds", "interlingua_inference_seconds", "interlingua_batch_size",
    "interlingua_batch_tokens", "interlingua_batch_padding_ratio", "interlingua_input_tokens",
    "interlingua_truncated", "interlingua_queue_depth", "interlingua_queue_capacity",
    "interlingua_queue_expected_seconds", "interlingua_inflight_requests", "interlingua_rejected",
    "interlingua_cancelled", "interlingua_index_vectors", "interlingua_index_search_seconds",
    "interlingua_documents_written", "interlingua_classifications", "interlingua_model_info",
    "interlingua_ready", "interlingua_data_free_bytes", "interlingua_data_size_bytes",
    "interlingua_build_info",
}  # fmt: skip


def samples(metrics: Metrics) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(metrics.render().decode())
        for sample in family.samples
    }


def test_the_page_has_every_metric_and_help() -> None:
    metrics = Metrics()
    metrics.watch_corpora(lambda: [("demo", 3)])
    families = {
        family.name: family for family in text_string_to_metric_families(metrics.render().decode())
    }
    assert {name for name in families if name.startswith("interlingua_")} >= DECLARED
    assert all(family.documentation for family in families.values())


def test_batches_are_observed() -> None:
    metrics = Metrics()
    observer: Observer = metrics
    observer.observe_batch(texts=3, tokens=30, padded_tokens=40, seconds=0.02)
    seen = samples(metrics)
    assert seen["interlingua_batch_size_sum", ()] == 3
    assert seen["interlingua_batch_tokens_sum", ()] == 30
    assert seen["interlingua_batch_padding_ratio_sum", ()] == 0.25
    assert seen["interlingua_inference_seconds_count", ()] == 1


def test_requests_that_were_embedded_are_observed() -> None:
    metrics = Metrics()
    for truncated in ([], [0, 2]):
        metrics.observe_embedded(
            Embedded(
                vectors=np.zeros((3, 2), dtype=np.float32),
                tokens=[4, 1, 4],
                truncated=truncated,
                languages=[None] * 3,
                tokenize_seconds=0.25,
                queue_seconds=0.5,
                inference_seconds=0.0,
            )
        )
    seen = samples(metrics)
    assert seen["interlingua_truncated_total", ()] == 2
    assert seen["interlingua_input_tokens_sum", ()] == 18
    assert seen["interlingua_tokenize_seconds_sum", ()] == 0.5
    assert seen["interlingua_queue_seconds_sum", ()] == 1.0


def test_labels_are_counted_together() -> None:
    metrics = Metrics()
    metrics.observe_labels("topics", ["law", "music", "law"])
    seen = samples(metrics)
    name = "interlingua_classifications_total"
    assert seen[name, (("classifier", "topics"), ("label", "law"))] == 2
    assert seen[name, (("classifier", "topics"), ("label", "music"))] == 1


def test_gauges_are_read_when_asked_for() -> None:
    metrics = Metrics()
    sizes = {"demo": 3}
    metrics.watch_corpora(sizes.items)
    assert samples(metrics)["interlingua_index_vectors", (("corpus", "demo"),)] == 3
    sizes.update(demo=4, other=1)
    assert samples(metrics)["interlingua_index_vectors", (("corpus", "demo"),)] == 4
    assert samples(metrics)["interlingua_index_vectors", (("corpus", "other"),)] == 1


def test_a_dropped_corpus_is_forgotten() -> None:
    metrics = Metrics()
    metrics.search_seconds.labels("old").observe(0.1)
    metrics.forget_corpus("old")
    metrics.forget_corpus("never there")
    assert b"old" not in metrics.render()


def test_a_dropped_classifier_is_forgotten() -> None:
    metrics = Metrics()
    metrics.observe_labels("old", ["law", "music"])
    metrics.observe_labels("new", ["law"])
    metrics.forget_classifier("old")
    metrics.forget_classifier("never there")
    assert b'classifier="old"' not in metrics.render()
    assert b'classifier="new"' in metrics.render()


def test_two_applications_do_not_share_their_counts() -> None:
    one, two = Metrics(), Metrics()
    one.observe_request("/embed", 200, 0.01)
    labels = (("route", "/embed"), ("status", "200"))
    assert samples(one)["interlingua_requests_total", labels] == 1
    assert ("interlingua_requests_total", labels) not in samples(two)


def test_the_volume_is_looked_at_when_asked_for(tmp_path: Path) -> None:
    metrics = Metrics()
    metrics.watch_volume(tmp_path)
    seen = samples(metrics)
    assert 0 < seen["interlingua_data_free_bytes", ()] <= seen["interlingua_data_size_bytes", ()]


def test_a_lost_volume_does_not_take_the_other_metrics_along(tmp_path: Path) -> None:
    metrics = Metrics()
    metrics.watch_volume(tmp_path / "gone")
    assert samples(metrics)["interlingua_data_size_bytes", ()] == 0


def test_a_lost_engine_does_not_take_the_other_metrics_along() -> None:
    def sizes() -> list[tuple[str, int]]:
        raise StorageError("the engine does not answer")

    metrics = Metrics()
    metrics.watch_corpora(sizes)
    assert samples(metrics)["interlingua_ready", ()] == 0


def test_a_slow_engine_does_not_hold_the_other_metrics_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declared, "SIZES_SECONDS", 0.02)
    answers = threading.Event()
    asked = 0

    def sizes() -> list[tuple[str, int]]:
        nonlocal asked
        asked += 1
        answers.wait(10)
        return [("slow", 7)]

    metrics = Metrics()
    metrics.watch_corpora(sizes)
    size = "interlingua_index_vectors", (("corpus", "slow"),)
    for _ in range(3):
        assert size not in samples(metrics)
    assert asked == 1, "questions do not pile up before it"
    answers.set()
    monkeypatch.setattr(declared, "SIZES_SECONDS", 10.0)
    assert samples(metrics)[size] == 7
