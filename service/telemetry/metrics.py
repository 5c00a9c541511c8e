"""Every metric of the service, declared once.

Names and units follow Prometheus: base units, `_total` for counters, labels from small fixed sets
(a route's template, a status, a corpus, a classifier's label), never text and never a client.
"""

from __future__ import annotations

import collections
import contextlib
import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from prometheus_client import (
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
)
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector, CollectorRegistry

from service.errors import InterlinguaError
from service.telemetry.histogram import BulkHistogram
from service.telemetry.recent import Kept, RecentCollector

SECONDS = (
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
    0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
)  # fmt: skip
"""From a lookup in memory to the longest a request may wait."""
SIZES = tuple(float(2**power) for power in range(0, 15))
SIZES_SECONDS = 1.0
"""How long an answer waits for the corpora's sizes; Prometheus gives up after its interval."""
RATIOS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)


class EmbeddingTimes(Protocol):
    """What the metrics want to know of an embedded request."""

    @property
    def tokens(self) -> Sequence[int]:
        """Tokens of each text."""
        ...

    @property
    def truncated(self) -> Sequence[int]:
        """Positions of texts that were cut."""
        ...

    @property
    def tokenize_seconds(self) -> float:
        """Time spent on tokens."""
        ...

    @property
    def queue_seconds(self) -> float:
        """Longest wait for a session."""
        ...


class Metrics:
    """The metrics of one application, in a registry of their own.

    It is an `inference.engine.Observer`: the engine's threads tell it of each batch.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        r = self.registry
        ProcessCollector(registry=r)
        PlatformCollector(registry=r)
        GCCollector(registry=r)
        self._recent = RecentCollector()
        r.register(self._recent)
        self.requests = Counter(
            "interlingua_requests", "Requests answered", ["route", "status"], registry=r
        )
        self.request_seconds = Histogram(
            "interlingua_request_seconds",
            "From a request's first byte to its answer's last",
            ["route"],
            buckets=SECONDS,
            registry=r,
        )
        self.inflight = Gauge(
            "interlingua_inflight_requests", "Requests being answered now", registry=r
        )
        self.rejected = Counter(
            "interlingua_rejected",
            "Requests refused for a reason that is not their content",
            ["reason"],
            registry=r,
        )
        self.cancelled = Counter(
            "interlingua_cancelled", "Requests whose client went away", registry=r
        )
        self.tokenize_seconds = Histogram(
            "interlingua_tokenize_seconds",
            "Time a request spent on tokens",
            buckets=SECONDS,
            registry=r,
        )
        self.queue_seconds = Histogram(
            "interlingua_queue_seconds",
            "Longest wait of any part of a request for a session",
            buckets=SECONDS,
            registry=r,
        )
        self.inference_seconds = Histogram(
            "interlingua_inference_seconds",
            "Computation of one batch",
            buckets=SECONDS,
            registry=r,
        )
        self.batch_size = Histogram(
            "interlingua_batch_size", "Texts in a batch", buckets=SIZES, registry=r
        )
        self.batch_tokens = Histogram(
            "interlingua_batch_tokens",
            "Tokens in a batch, padding not counted",
            buckets=SIZES,
            registry=r,
        )
        self.batch_padding_ratio = Histogram(
            "interlingua_batch_padding_ratio",
            "Share of a batch that is padding",
            buckets=RATIOS,
            registry=r,
        )
        self.input_tokens = BulkHistogram(
            "interlingua_input_tokens",
            "Tokens of a text, after it was cut",
            buckets=SIZES,
            registry=r,
        )
        self.truncated = Counter(
            "interlingua_truncated", "Texts that were cut to the model's limit", registry=r
        )
        self.failed_batches = Counter(
            "interlingua_failed_batches",
            "Batches that the model failed on; they are tried again in halves",
            registry=r,
        )
        self.session_recoveries = Counter(
            "interlingua_session_recoveries",
            "Sessions that were lost: opened again, replaced by one on the CPU, or failed to be",
            ["model", "how"],
            registry=r,
        )
        self.search_seconds = Histogram(
            "interlingua_index_search_seconds",
            "One search call, all its queries together",
            ["corpus"],
            buckets=SECONDS,
            registry=r,
        )
        self.documents_written = Counter(
            "interlingua_documents_written", "Documents upserted", ["corpus"], registry=r
        )
        self.classifications = Counter(
            "interlingua_classifications",
            "Texts whose best label was this one, of fitted classifiers",
            ["classifier", "label"],
            registry=r,
        )
        self.model_info = Gauge(
            "interlingua_model_info",
            "1 for each loaded model",
            ["model", "sha", "dim"],
            registry=r,
        )
        self.data_free_bytes = Gauge(
            "interlingua_data_free_bytes",
            "Bytes that may still be written where the corpora are",
            registry=r,
        )
        self.data_size_bytes = Gauge(
            "interlingua_data_size_bytes", "Bytes of the volume where the corpora are", registry=r
        )
        self.corpora_unreadable = Gauge(
            "interlingua_corpora_unreadable",
            "Corpora left out at the start, since their database is damaged",
            registry=r,
        )
        self.indexes_unreadable = Gauge(
            "interlingua_indexes_unreadable",
            "Index files that were damaged and are built again, since the start",
            registry=r,
        )
        self.build_info = Gauge(
            "interlingua_build_info", "1, with the version that runs", ["version"], registry=r
        )
        self.ready = Gauge("interlingua_ready", "1 when requests are taken, else 0", registry=r)
        self.queue_depth = Gauge(
            "interlingua_queue_depth", "Padded tokens that wait now", registry=r
        )
        self.queue_capacity = Gauge(
            "interlingua_queue_capacity",
            "Padded tokens that may wait before requests are refused",
            registry=r,
        )
        self.queue_expected_seconds = Gauge(
            "interlingua_queue_expected_seconds",
            "How long what waits now will take, at the speed measured lately",
            registry=r,
        )

    def observe_batch(self, *, texts: int, tokens: int, padded_tokens: int, seconds: float) -> None:
        """Take one computed batch; called from the engine's threads."""
        self.inference_seconds.observe(seconds)
        self.batch_size.observe(texts)
        self.batch_tokens.observe(tokens)
        self.batch_padding_ratio.observe(1 - tokens / max(1, padded_tokens))

    def observe_failed_batch(self) -> None:
        """Take a batch that was not computed; called from the engine's threads."""
        self.failed_batches.inc()

    def observe_embedded(self, embedded: EmbeddingTimes) -> None:
        """Take one embedded request, or one batch of a streamed one."""
        self.tokenize_seconds.observe(embedded.tokenize_seconds)
        self.queue_seconds.observe(embedded.queue_seconds)
        self.input_tokens.observe_many(embedded.tokens)
        if embedded.truncated:
            self.truncated.inc(len(embedded.truncated))

    def observe_request(self, route: str, status: int, seconds: float) -> None:
        """Take one answered request; `route` is the template, not the path."""
        self.requests.labels(route, str(status)).inc()
        self.request_seconds.labels(route).observe(seconds)

    def observe_labels(self, classifier: str, labels: Sequence[str]) -> None:
        """Take the best label of each text that a fitted classifier was asked about."""
        for name, count in collections.Counter(labels).items():
            self.classifications.labels(classifier, name).inc(count)

    def watch_recent(self, recent: Kept) -> None:
        """Have `interlingua_cache_*` and `interlingua_texts_shared_total` read from `recent`."""
        self._recent.kept = recent

    def watch_corpora(self, sizes: Callable[[], Iterable[tuple[str, int]]]) -> None:
        """Have `interlingua_index_vectors{corpus}` ask `sizes` for (name, vectors) when read."""
        self.registry.register(_CorpusSizes(sizes))

    def watch_volume(self, directory: Path) -> None:
        """Have the bytes of `directory`'s volume read from the file system when asked for."""

        def usage() -> tuple[int, int, int]:
            # A volume that is gone must not take the other metrics along.
            with contextlib.suppress(OSError):
                return shutil.disk_usage(directory)
            return 0, 0, 0

        self.data_size_bytes.set_function(lambda: usage()[0])
        self.data_free_bytes.set_function(lambda: usage()[2])

    def forget_corpus(self, name: str) -> None:
        """Stop reporting a corpus that was dropped."""
        for metric in (self.search_seconds, self.documents_written):
            with contextlib.suppress(KeyError):
                metric.remove(name)

    def forget_classifier(self, name: str) -> None:
        """Stop reporting the labels of a classifier that was dropped."""
        (counted,) = self.classifications.collect()
        known = [sample.labels for sample in counted.samples]
        for label in {labels["label"] for labels in known if labels["classifier"] == name}:
            self.classifications.remove(name, label)

    def render(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry)


class _CorpusSizes(Collector):
    """`interlingua_index_vectors{corpus}`, read when asked for, so it is never stale.

    An engine that is gone, or that takes its time, must not take the other metrics along: they
    tell of it. Its sizes are left out of that answer.
    """

    def __init__(self, sizes: Callable[[], Iterable[tuple[str, int]]]) -> None:
        self._sizes = sizes
        self._asking = ThreadPoolExecutor(1, thread_name_prefix="sizes")
        self._asked: Future[list[tuple[str, int]]] | None = None

    def describe(self) -> Iterable[GaugeMetricFamily]:
        return [self._family()]

    def collect(self) -> Iterable[GaugeMetricFamily]:
        family = self._family()
        if self._asked is None or self._asked.done():
            self._asked = self._asking.submit(lambda: list(self._sizes()))
        with contextlib.suppress(InterlinguaError, TimeoutError):
            for name, vectors in self._asked.result(SIZES_SECONDS):
                family.add_metric([name], vectors)
        return [family]

    @staticmethod
    def _family() -> GaugeMetricFamily:
        return GaugeMetricFamily(
            "interlingua_index_vectors", "Vectors in a corpus", labels=["corpus"]
        )
