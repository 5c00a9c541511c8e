"""Worker threads that turn queued slices into vectors, and the awaitable way to them."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Protocol

import numpy as np

from service.errors import BackendError, InterlinguaError
from service.inference.budget import about_tokens
from service.inference.computed import Computed
from service.inference.encoder import Encoder
from service.inference.failed_batch import as_backend_error, halves
from service.inference.handover import Handover
from service.inference.priority import step_back
from service.inference.queue import WorkQueue, job_slices
from service.inference.recent import RecentVectors
from service.inference.request import Embedded, EmbedOptions, Prepared, check_dimensions, prepare
from service.inference.running import Running
from service.inference.session import Vectors
from service.inference.slices import slice_by_length
from service.inference.work import Job, Slice
from service.text.tokenizer import Tokens

log = logging.getLogger(__name__)

INLINE_TOKENS = 64
"""About so many are made at once where they are asked for: that takes some 50 microseconds, and the
way to another thread and back twice that."""


class Observer(Protocol):
    """Who wants to know of each batch; the metrics do."""

    def observe_batch(self, *, texts: int, tokens: int, padded_tokens: int, seconds: float) -> None:
        """Take one computed batch."""
        ...

    def observe_failed_batch(self) -> None:
        """Take a batch that was not computed, and is tried in halves where it has any."""
        ...


class Engine:
    """A queue and the threads that empty it.

    Args:
        workers: Worker threads; each runs one batch at a time on one thread, so as many as cores.
            One more is there for what is little, `WorkQueue.take_little`.
        batch_tokens: Padded tokens of one batch.
        queue_tokens: Padded tokens that may wait before requests are refused.
        queue_seconds: What waits may take about so long before requests are refused.
        observer: Told of each batch.
        recent: Where the vectors of recent texts are kept; nowhere by default.
    """

    def __init__(
        self,
        *,
        workers: int,
        batch_tokens: int,
        queue_tokens: int,
        queue_seconds: float = math.inf,
        observer: Observer | None = None,
        recent: RecentVectors | None = None,
    ) -> None:
        self.workers = workers
        self.recent = recent or RecentVectors()
        self.queue = WorkQueue(
            capacity_tokens=queue_tokens, batch_tokens=batch_tokens, wait_seconds=queue_seconds
        )
        self._observer = observer
        self._handover: Handover | None = None
        self._tokenizers = ThreadPoolExecutor(workers, thread_name_prefix="tokenize")
        self._threads = [
            threading.Thread(target=target, name=f"encode-{name}", daemon=True)
            for name, target in (
                *((str(number), self._encode_much) for number in range(workers)),
                ("little", self._encode_little),
            )
        ]
        for thread in self._threads:
            thread.start()

    async def embed(
        self, encoder: Encoder, texts: Sequence[str], options: EmbedOptions | None = None
    ) -> Embedded:
        """Return the vectors of `texts`.

        Raises:
            InputError: A prompt, language or dimension that the model does not have, or a text
                that is too long and must not be cut.
            OverloadedError: The queue is full.
            UnavailableError: The queue is closed: the service is shutting down.
            BackendError: The model failed on these texts.
        """
        options = options or EmbedOptions()
        check_dimensions(encoder.manifest, options.dimensions)
        with self.queue.entered(options.client):
            return await self._embed(encoder, texts, options)

    async def _embed(
        self, encoder: Encoder, texts: Sequence[str], options: EmbedOptions
    ) -> Embedded:
        loop = asyncio.get_running_loop()
        over: asyncio.Future[None] = loop.create_future()
        began = time.monotonic()
        about = about_tokens(texts, limit=encoder.manifest.max_tokens)
        with self.queue.admitted(about, client=options.client):
            if self._takes_at_once(encoder, about):
                prepared = prepare(encoder, texts, options)
            else:
                prepared = await loop.run_in_executor(
                    self._tokenizers, prepare, encoder, texts, options
                )
        running = self._queued(
            encoder, prepared, options, began=began, when_over=partial(_settle, over)
        )
        try:
            if running.jobs:
                await over
        except BaseException:
            running.cancel()
            raise
        return running.embedded()

    @staticmethod
    def _takes_at_once(encoder: Encoder, about: int) -> bool:
        """Return whether texts of `about` so many tokens are tokenised where they are asked for."""
        return about <= INLINE_TOKENS and not encoder.needs_language

    def start(
        self,
        encoder: Encoder,
        texts: Sequence[str],
        options: EmbedOptions,
        *,
        when_over: Callable[[], None],
    ) -> Running | None:
        """Queue `texts` and return at once: what `embed` does, for a caller that does not wait.

        To be called on the event loop, between `queue.enter` and `queue.leave`. Returns None, and
        does nothing, where the texts are too many to be tokenised there.

        Args:
            encoder: The model.
            texts: At least one.
            options: How to embed.
            when_over: Called on the loop when `Running.embedded` has an answer.

        Raises:
            InterlinguaError: What `embed` raises before anything is computed; nothing is queued.
        """
        check_dimensions(encoder.manifest, options.dimensions)
        began = time.monotonic()
        about = about_tokens(texts, limit=encoder.manifest.max_tokens)
        if not self._takes_at_once(encoder, about):
            return None
        self.queue.check_room(about, client=options.client)
        prepared = prepare(encoder, texts, options)
        return self._queued(encoder, prepared, options, began=began, when_over=when_over)

    def _queued(
        self,
        encoder: Encoder,
        prepared: Prepared,
        options: EmbedOptions,
        *,
        began: float,
        when_over: Callable[[], None],
    ) -> Running:
        running = Running(
            prepared,
            encoder.manifest,
            options,
            began=began,
            handover=self._handover_to(asyncio.get_running_loop()),
            when_over=when_over,
        )
        try:
            for job in running.jobs:
                self.queue.put(self._slices(job), client=options.client)
        except BaseException:
            running.cancel()
            raise
        return running

    def _handover_to(self, loop: asyncio.AbstractEventLoop) -> Handover:
        if self._handover is None or self._handover.loop is not loop:
            self._handover = Handover(loop)
        return self._handover

    def _slices(self, job: Job) -> list[Slice]:
        """Return what of `job` must be computed, cut into batches; the rest is delivered."""
        found = self.recent.find(job.tower, job.tokens)
        if found:
            vectors = np.stack(list(found.values()))
            job.deliver(list(found), vectors, started=job.enqueued, seconds=0.0)
        rows = [row for row in range(len(job.tokens)) if row not in found]
        budget = self.queue.budget_of(job.tower)
        parts = slice_by_length(
            [len(job.tokens[row]) for row in rows], budget=budget.tokens, pads=budget.pads
        )
        return job_slices(job, [[rows[place] for place in part] for part in parts])

    @property
    def thread_ids(self) -> list[int]:
        """The system's ids of the threads that compute."""
        return [thread.native_id for thread in self._threads if thread.native_id is not None]

    def close(self) -> None:
        """Finish what waits, refuse what comes, and end the threads."""
        self.queue.close()
        for thread in self._threads:
            thread.join()
        self._tokenizers.shutdown()

    def _encode_much(self) -> None:
        step_back()
        self._work(self.queue.take)

    def _encode_little(self) -> None:
        self._work(self.queue.take_little)

    def _work(self, take: Callable[[], list[Slice] | None]) -> None:
        while (batch := take()) is not None:
            try:
                self._try(batch)
            except BaseException as error:
                # A library that ends threads, or a bug of ours: a thread that died would leave
                # these requests without an answer, and in the end all of them.
                log.error("an encoder thread was to end (%r); it goes on", error)
                for piece in batch:
                    piece.job.fail(BackendError("The model was interrupted.", remedy="Try again."))
                with suppress(Exception):
                    self._observe_failure()

    def _try(self, batch: Sequence[Slice]) -> None:
        try:
            self._compute(batch)
        except Exception as error:
            if not isinstance(error, InterlinguaError | MemoryError):
                log.exception("a batch failed unexpectedly; this is a bug")
            self._compute_in_halves(batch, as_backend_error(error))

    def _compute(self, batch: Sequence[Slice]) -> None:
        tower = batch[0].job.tower
        tokens = [piece.job.tokens[row] for piece in batch for row in piece.rows]
        started = time.monotonic()
        done = Computed()

        def run(some: Sequence[Tokens]) -> Vectors:
            inputs = tower.tokenizer.collate(some)
            vectors = tower.session.run(inputs)
            done.add(tower, some, inputs)
            return vectors

        if self.recent.worth(tower):
            vectors = self.recent.compute(tower, tokens, run)
        else:
            vectors = run(tokens)
        seconds = time.monotonic() - started
        offset = 0
        for piece in batch:
            part = vectors[offset : offset + len(piece.rows)]
            offset += len(piece.rows)
            piece.job.deliver(
                piece.rows, part, started=started, seconds=seconds * len(piece.rows) / len(tokens)
            )
        if not done.texts:  # all were computed with equal ones, elsewhere
            return
        self.queue.record_speed(done.padded_tokens, seconds, workers=self.workers)
        if self._observer is not None:
            self._observer.observe_batch(
                texts=done.texts,
                tokens=done.tokens,
                padded_tokens=done.padded_tokens,
                seconds=seconds,
            )

    def _compute_in_halves(self, batch: Sequence[Slice], error: InterlinguaError) -> None:
        """Compute the halves of a batch that failed; one text alone fails its job.

        So one bad text does not fail the requests that it happened to share a batch with, and a
        batch that was too large for the memory gets small enough.
        """
        self._observe_failure()
        batch = [piece for piece in batch if not piece.job.over]
        texts = sum(len(piece.rows) for piece in batch)
        if texts <= 1:
            for piece in batch:
                log.error("a text of %d tokens failed: %s", piece.width, error)
                piece.job.fail(error)
            return
        log.warning("a batch of %d texts failed and is tried in halves: %s", texts, error)
        for half in halves(batch):
            # The first half may have failed the job that the second is of.
            alive = [piece for piece in half if not piece.job.over]
            if not alive:
                continue
            try:
                self._compute(alive)
            except Exception as own:
                self._compute_in_halves(alive, as_backend_error(own))

    def _observe_failure(self) -> None:
        if self._observer is not None:
            self._observer.observe_failed_batch()


def _settle(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)
