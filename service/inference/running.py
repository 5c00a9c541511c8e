"""The texts of one request, from the queue to their vectors."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from service.bundle.manifest import Manifest
from service.errors import InterlinguaError
from service.inference.handover import Handover
from service.inference.request import Embedded, EmbedOptions, Prepared
from service.inference.vectors import finish
from service.inference.work import Job


class Running:
    """A request whose texts wait to be computed, or are.

    All of it happens on the event loop of `handover`, but for the computing.

    Args:
        prepared: Its texts as tokens.
        manifest: Of the model.
        options: How to embed.
        began: `time.monotonic()` when its tokens were begun.
        handover: How the threads that compute reach the loop.
        when_over: Called once, when all is computed or one text has failed; not when it was
            cancelled.

    Attributes:
        jobs: One for each tower that has texts of it.
    """

    def __init__(
        self,
        prepared: Prepared,
        manifest: Manifest,
        options: EmbedOptions,
        *,
        began: float,
        handover: Handover,
        when_over: Callable[[], None],
    ) -> None:
        self._prepared = prepared
        self._manifest = manifest
        self._options = options
        self._tokenize_seconds = time.monotonic() - began
        self._handover = handover
        self._when_over = when_over
        self._left = len(prepared.groups)
        self._over = False
        self._error: InterlinguaError | None = None
        self.jobs = [
            Job(
                group.tower,
                group.tokens,
                dimension=manifest.dimension,
                when_done=self._job_is_done,
            )
            for group in prepared.groups
        ]

    def cancel(self) -> None:
        """Drop what is not yet computed: nobody waits for it."""
        self._over = True
        for job in self.jobs:
            job.cancel()

    def embedded(self) -> Embedded:
        """Return the vectors of a request that is over.

        Raises:
            InterlinguaError: One of its texts failed.
        """
        if self._error is not None:
            raise self._error
        prepared, options, jobs = self._prepared, self._options, self.jobs
        if len(jobs) == 1:  # its texts are the request's, in their order
            vectors = jobs[0].vectors
        else:
            shape = (len(prepared.lengths), self._manifest.dimension)
            vectors = np.zeros(shape, dtype=np.float32)
            for group, job in zip(prepared.groups, jobs, strict=True):
                vectors[group.positions] = job.vectors
        normalised = options.normalize
        return Embedded(
            vectors=finish(
                vectors,
                dimensions=options.dimensions,
                normalised=self._manifest.normalised if normalised is None else normalised,
            ),
            tokens=prepared.lengths,
            truncated=prepared.truncated,
            languages=prepared.languages,
            tokenize_seconds=self._tokenize_seconds,
            queue_seconds=max((job.queue_seconds for job in jobs), default=0.0),
            inference_seconds=sum(job.inference_seconds for job in jobs),
        )

    def _job_is_done(self, job: Job) -> None:
        self._handover.call(partial(self._settle, job))

    def _settle(self, job: Job) -> None:
        self._left -= 1
        if self._over or (self._left and job.error is None):
            return
        self._over = True
        self._error = job.error
        self._when_over()
