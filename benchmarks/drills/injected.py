"""Faults put into a running service from inside, each for as long as its block is entered.

They act where the outside world does: in a session's `run`, in SQLite's own limits and locks, in
the process' limits and clocks. What the service makes of them is not touched.
"""

from __future__ import annotations

import os
import random
import resource
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from unittest import mock

import numpy as np

from service.api.state import Resources
from service.errors import BackendError, BundleError
from service.inference.guarded import GuardedSession
from service.inference.session import Session, Vectors, check_finite
from service.search import database
from service.search.corpora import Corpora
from service.search.corpus import Corpus
from service.text.tokenizer import Inputs

Fault = Callable[[Resources], AbstractContextManager[None]]
Run = Callable[[Inputs], Vectors]

_YEAR_NS = 365 * 24 * 3600 * 10**9
_OUT_OF_MEMORY = "Failed to allocate memory for requested buffer of size 68719476736"


@contextmanager
def session_throws(resources: Resources) -> Iterator[None]:
    """Every second batch of more than one text throws."""
    chance = random.Random(0)

    def run(real: Run, inputs: Inputs) -> Vectors:
        if len(inputs["ids"]) > 1 and chance.random() < 0.5:
            raise BackendError("The model failed: injected")
        return real(inputs)

    with _running(resources, run):
        yield


@contextmanager
def not_finite(resources: Resources) -> Iterator[None]:
    """The model returns not-a-number for batches of more than one text."""

    def run(real: Run, inputs: Inputs) -> Vectors:
        vectors = real(inputs).copy()
        if len(vectors) > 1:
            vectors[0, 0] = np.nan
        return check_finite(vectors)

    with _running(resources, run):
        yield


@contextmanager
def out_of_memory(resources: Resources) -> Iterator[None]:
    """There is memory for two texts at a time."""

    def run(real: Run, inputs: Inputs) -> Vectors:
        if len(inputs["ids"]) > 2:
            raise BackendError(f"The model failed: {_OUT_OF_MEMORY}")
        return real(inputs)

    with _running(resources, run):
        yield


@contextmanager
def session_lost(resources: Resources) -> Iterator[None]:
    """The session fails for good; another of the same kind works."""

    def run(_real: Run, _inputs: Inputs) -> Vectors:
        raise BackendError("The model failed: CUDA failure 999: unknown error")

    with _running(resources, run):
        yield


@contextmanager
def device_lost(resources: Resources) -> Iterator[None]:
    """The session fails for good, and cannot be opened again where it was."""

    def gone() -> Session:
        raise BundleError("no CUDA-capable device is detected")

    guarded = _session(resources)
    there = guarded._ways
    guarded._ways = [("reopened", gone), *there[1:]]
    try:
        with session_lost(resources):
            yield
    finally:
        guarded._ways = there


@contextmanager
def thread_ended(resources: Resources) -> Iterator[None]:
    """A library ends the thread that computes, once."""
    armed = True

    def run(real: Run, inputs: Inputs) -> Vectors:
        nonlocal armed
        if armed:
            armed = False
            raise SystemExit("injected")
        return real(inputs)

    with _running(resources, run):
        yield


@contextmanager
def slow_model(resources: Resources) -> Iterator[None]:
    """Each batch takes a fifth of a second longer."""

    def run(real: Run, inputs: Inputs) -> Vectors:
        time.sleep(0.2)
        return real(inputs)

    with _running(resources, run):
        yield


@contextmanager
def disk_full(resources: Resources) -> Iterator[None]:
    """SQLite may not take another page, in any corpus; it reports a full disk."""
    with _pragma(resources, "max_page_count = 1", "max_page_count = 4294967294"):
        yield


@contextmanager
def read_only(resources: Resources) -> Iterator[None]:
    """SQLite may not write, in any corpus."""
    with _pragma(resources, "query_only = ON", "query_only = OFF"):
        yield


@contextmanager
def database_locked(resources: Resources) -> Iterator[None]:
    """Another process holds the databases; it is not waited for any more than a moment."""
    with ExitStack() as held:
        held.enter_context(mock.patch.object(database, "BUSY_SECONDS", 0.1))
        for corpus in _corpora(resources):
            with corpus._live.writing:
                other = sqlite3.connect(
                    corpus._store.path, isolation_level=None, check_same_thread=False
                )
                held.callback(other.close)
                other.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def clock_forward(_: Resources) -> Iterator[None]:
    """It is a year later, and then no more."""
    with _clock(_YEAR_NS):
        yield


@contextmanager
def clock_backward(_: Resources) -> Iterator[None]:
    """It is a year earlier, and then no more."""
    with _clock(-_YEAR_NS):
        yield


@contextmanager
def no_handles(_: Resources) -> Iterator[None]:
    """No further file and no further connection can be opened."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/proc/self/fd")))  # noqa: PTH208 - names, not paths
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def no_larger_files(_: Resources) -> Iterator[None]:
    """No file may grow beyond 8 KB: databases, logs and indexes alike; SIGXFSZ must be ignored."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


INSIDE: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        session_throws,
        not_finite,
        out_of_memory,
        session_lost,
        device_lost,
        thread_ended,
        slow_model,
        disk_full,
        read_only,
        database_locked,
        clock_forward,
        clock_backward,
        no_handles,
        no_larger_files,
    )
}


def _session(resources: Resources) -> GuardedSession:
    session = resources.default_encoder.towers["*"].session
    assert isinstance(session, GuardedSession)
    return session


@contextmanager
def _running(resources: Resources, run: Callable[[Run, Inputs], Vectors]) -> Iterator[None]:
    """Have the innermost session run by `run`, which gets the real way to; its successors not."""
    inner = _session(resources)._session
    real = inner.run
    with mock.patch.object(inner, "run", lambda inputs: run(real, inputs)):
        yield


def _corpora(resources: Resources) -> list[Corpus]:
    assert isinstance(resources.corpora, Corpora)
    return list(resources.corpora.list())


@contextmanager
def _pragma(resources: Resources, begin: str, end: str) -> Iterator[None]:
    with ExitStack() as all_corpora:
        for corpus in _corpora(resources):
            all_corpora.enter_context(_pragma_of(corpus, begin, end))
        yield


@contextmanager
def _pragma_of(corpus: Corpus, begin: str, end: str) -> Iterator[None]:
    writer = corpus._store._database._writer
    with corpus._live.writing:
        writer.execute(f"PRAGMA {begin}")
    try:
        yield
    finally:
        with corpus._live.writing:
            writer.execute(f"PRAGMA {end}")


@contextmanager
def _clock(offset_ns: int) -> Iterator[None]:
    real_ns, real = time.time_ns, time.time

    def jumped_ns() -> int:
        return real_ns() + offset_ns

    def jumped() -> float:
        return real() + offset_ns / 1e9

    with mock.patch.object(time, "time_ns", jumped_ns), mock.patch.object(time, "time", jumped):
        yield
