"""Load the models and open the stores: everything that must be there before the first request."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial

import numpy as np

from service.api.problems import problem_of
from service.api.state import Resources
from service.api.token_input import prepare_decoding
from service.arenas import return_freed_memory
from service.classification.classifiers import Classifiers
from service.classification.store import ClassifierStore
from service.demo.loader import DEMO_NAME, load_demo
from service.demo.renewal import renew_demo
from service.demo.vectors import read_vectors
from service.errors import InterlinguaError
from service.inference.encoder import DOCUMENT_PROMPTS, Encoder
from service.inference.engine import Engine
from service.inference.execution import Execution
from service.inference.guarded import Recovery, guard
from service.inference.opening import Opening, open_models
from service.inference.recent import RecentVectors
from service.inference.session import Vectors
from service.jobs.job import Result
from service.jobs.jobs import Jobs
from service.search.corpora import Corpora
from service.search.document import Document
from service.search.engines import open_corpora
from service.search.index_file import damaged_files
from service.search.weights import other_weights
from service.settings import Settings
from service.telemetry.metrics import Metrics

log = logging.getLogger(__name__)

_WARM_UP = ("Good morning.", "Guten Morgen.", "おはようございます。", "word " * 64)
"""Short and long, in several scripts, so that the first request meets no first time."""


def load(settings: Settings, metrics: Metrics, opening: Opening | None = None) -> Resources:
    """Return everything that requests need; blocks for as long as that takes.

    Args:
        settings: What to load.
        metrics: Told of it.
        opening: The models, where they are being opened already.

    Raises:
        BundleError: A model or classifier that cannot be trusted or served.
        SettingsError: Two models of one name, or one that cannot run as the settings want; or no
            vocabulary for token ids.
        StorageError: The data directory cannot be used.
    """
    began = time.monotonic()
    models = open_models(settings) if opening is None else opening.result()
    encoders = {model.encoder.name: model.encoder for model in models}
    for encoder in encoders.values():
        _guard(encoder, settings, metrics)
        encoder.encode(_WARM_UP)
        manifest = encoder.manifest
        metrics.model_info.labels(encoder.name, manifest.identity, str(manifest.dimension)).set(1)
    prepare_decoding(settings.token_input)
    classifiers = Classifiers(
        settings.head,
        ClassifierStore(settings.data / "classifiers"),
        fixed=bool(settings.vector_engine),
    )
    with ExitStack() as undo:
        corpora = open_corpora(settings)
        undo.callback(corpora.close)
        jobs = Jobs(settings.data / "jobs", describe=_problem)
        undo.callback(jobs.close)
        engine = _engine(settings, metrics)
        choices = {model.encoder.name: model.choice for model in models}
        resources = Resources(encoders, engine, corpora, classifiers, jobs, choices)
        undo.callback(resources.engine.close)
        if settings.demo_corpus:
            _load_demo(resources, settings.workers)
            _renew_demo(resources, settings.workers)
        _tell_of_other_weights(resources)
        metrics.watch_volume(settings.data)
        if isinstance(corpora, Corpora):
            metrics.corpora_unreadable.set_function(lambda: len(corpora.damaged))
            metrics.indexes_unreadable.set_function(lambda: len(damaged_files))
        metrics.watch_corpora(lambda: _sizes(resources))
        undo.pop_all()
    return_freed_memory()
    seconds = time.monotonic() - began
    log.info("loaded %s in %.1f s, on %s", ", ".join(encoders), seconds, _computing_on(encoders))
    return resources


def _guard(encoder: Encoder, settings: Settings, metrics: Metrics) -> None:
    """Have lost sessions of `encoder` replaced, and that counted."""
    ways: list[tuple[Recovery, Execution]] = [("reopened", encoder.execution)]
    if settings.when_device_lost == "fall-back":
        ways.append(("fallback", Execution()))
    recoveries = metrics.session_recoveries
    guard(encoder, ways, lambda how: recoveries.labels(encoder.name, how).inc())


def close(resources: Resources) -> None:
    """Finish the work that waits, then let go of the files; blocks until that is done."""
    # First, since a job asks the engine for vectors and writes to corpora.
    resources.jobs.close()
    resources.engine.close()
    resources.corpora.close()


def _computing_on(encoders: dict[str, Encoder]) -> str:
    """Return what the sessions run on; what was asked for may not have loaded."""
    towers = [tower for encoder in encoders.values() for tower in encoder.towers.values()]
    return ", ".join(sorted({tower.session.providers[0] for tower in towers}))


def _problem(error: Exception) -> Result:
    return problem_of(error).members(None)


def _engine(settings: Settings, metrics: Metrics) -> Engine:
    engine = Engine(
        workers=settings.workers,
        batch_tokens=settings.batch_tokens,
        queue_tokens=settings.queue_tokens,
        queue_seconds=settings.queue_seconds,
        observer=metrics,
        recent=RecentVectors(settings.cache_mib << 20),
    )
    metrics.watch_recent(engine.recent)
    queue = engine.queue
    metrics.queue_capacity.set_function(lambda: queue.room_tokens)
    metrics.queue_depth.set_function(lambda: queue.tokens)
    metrics.queue_expected_seconds.set_function(queue.expected_wait_seconds)
    return engine


def _load_demo(resources: Resources, workers: int) -> None:
    encoder = resources.default_encoder

    def encode(documents: Sequence[Document]) -> Vectors:
        made_beforehand = read_vectors(encoder.manifest.identity)
        if made_beforehand is not None:
            return made_beforehand
        return _encode(encoder, [document.text for document in documents], workers)

    count = load_demo(
        resources.corpora,
        encode,
        model=encoder.name,
        space=encoder.manifest.space,
        dimension=encoder.dimension,
        identity=encoder.manifest.identity,
    )
    if count:
        log.info("loaded the demo corpus: %d documents", count)


def _renew_demo(resources: Resources, workers: int) -> None:
    corpora = resources.corpora
    try:
        demo = corpora.get(DEMO_NAME)
        encoder = resources.encoder_for_space(demo.space, preferred=demo.model, named=None)
    except InterlinguaError:  # there is none, or none that anything is looked for in
        return
    try:
        count = renew_demo(corpora, encoder, lambda texts: _encode(encoder, texts, workers))
    except InterlinguaError as error:  # it is of use as it is
        log.warning("The demo corpus is not encoded anew: %s", error)
        return
    if count:
        log.info("encoded the demo corpus anew, for other weights: %d documents", count)


def _encode(encoder: Encoder, texts: Sequence[str], workers: int) -> Vectors:
    share = -(-len(texts) // workers)
    parts = [texts[start : start + share] for start in range(0, len(texts), share)]
    prefix = encoder.prompt_prefix(encoder.prompt_among(DOCUMENT_PROMPTS))
    encode = partial(encoder.encode, prefix=prefix)
    with ThreadPoolExecutor(workers) as threads:
        return np.concatenate(list(threads.map(encode, parts)))


def _tell_of_other_weights(resources: Resources) -> None:
    for corpus in resources.corpora.list():
        encoder = resources.encoders.get(corpus.model)
        with suppress(InterlinguaError):  # what cannot be read is told of by who reads it
            if encoder is not None and (told := other_weights(corpus, encoder.manifest)):
                log.warning("%s", told)


def _sizes(resources: Resources) -> list[tuple[str, int]]:
    return [(corpus.name, corpus.count_vectors()) for corpus in resources.corpora.list()]
