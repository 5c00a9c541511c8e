"""A request's way to vectors: its limits, its deadline, and what is reported of it."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Annotated, ParamSpec, TypeVar

import anyio
import anyio.to_thread
from fastapi import Depends, Header, Request
from starlette.requests import ClientDisconnect

from service.api.auth import check_scope
from service.api.context import context_of
from service.api.disconnect import cancelled_on_disconnect
from service.api.limits import check_count
from service.api.state import State, state_of
from service.errors import DeadlineError, InputError
from service.inference.encoder import Encoder
from service.inference.request import Embedded, EmbedOptions
from service.security.grants import Scope
from service.security.permitted import permitted

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Work:
    """What a handler needs to answer one request.

    Attributes:
        resources: The loaded models and stores, with the corpora that the client may touch.
        grant: What the client may do.
        all_corpora: For those who have asked `resources` whether the client may.
        metrics: What is counted.
        max_inputs: Texts that the request may have.
        max_line_bytes: Of one line, where the body is a stream of lines.
        one_projection: Held while texts are laid out on a plane.
        departure: Set once the service will stop soon.
        timeout_seconds: What the client gives the request, at most what the operator does.
    """

    def __init__(self, request: Request, state: State, *, timeout: str | None) -> None:
        loaded = state.resources
        self._context = context_of(request)
        self.grant = self._context.grant
        self.all_corpora = loaded.corpora
        corpora = permitted(loaded.corpora, self.grant)
        self.resources = loaded if corpora is loaded.corpora else replace(loaded, corpora=corpora)
        self.metrics = state.metrics
        self.max_inputs = state.settings.max_inputs
        self.max_line_bytes = state.settings.max_body_bytes
        self.one_projection = state.one_projection
        self.departure = state.departure
        self.timeout_seconds = min(_seconds(timeout), state.settings.request_timeout_seconds)
        self._turns_to_write = state.turns_to_write
        self._request = request
        self._given_up = False

    async def embed(
        self,
        encoder: Encoder,
        texts: Sequence[str],
        options: EmbedOptions | None = None,
        *,
        field: str = "inputs",
        most: int | None = None,
        told: bool = True,
        places: Sequence[int] | None = None,
    ) -> Embedded:
        """Return the vectors of the request's texts; its body must have been read whole.

        Args:
            encoder: The model.
            texts: At most `most`.
            options: How; the bundle's defaults where None.
            field: Where the texts stood, for errors.
            most: `max_inputs` where None; given where the request's were counted already.
            told: Whether the answer's headers tell of them; they are not its inputs where not.
            places: Of the input that each text is a part of; see `RequestContext.add`.

        Raises:
            TooLargeError: More texts than are allowed.
            DeadlineError: The request's time ran out.
            ClientDisconnect: The client is gone, and the work with it.
            InterlinguaError: What `Engine.embed` raises.
        """
        check_count(texts, self.max_inputs if most is None else most, field=field)
        async with self.client_there():
            return await self._embed(
                encoder, texts, options, self._seconds_left(), told=told, places=places
            )

    async def embed_part(
        self,
        encoder: Encoder,
        texts: Sequence[str],
        options: EmbedOptions | None = None,
        *,
        places: Sequence[int] | None = None,
    ) -> Embedded:
        """Return the vectors of one batch of a streamed body; each batch has the whole timeout.

        The connection is not watched: what comes from it next is the rest of the body, and its
        reader learns of a client that is gone.
        """
        return await self._embed(encoder, texts, options, self.timeout_seconds, places=places)

    async def _embed(
        self,
        encoder: Encoder,
        texts: Sequence[str],
        options: EmbedOptions | None,
        seconds: float,
        *,
        told: bool = True,
        places: Sequence[int] | None = None,
    ) -> Embedded:
        options = replace(options or EmbedOptions(), client=self.grant.client)
        try:
            # What is cancelled here is dropped from the queue before it is computed.
            with self._context.traces.embedding(encoder.name, len(texts)) as span:
                async with asyncio.timeout(seconds):
                    embedded = await self.resources.engine.embed(encoder, texts, options)
                span.done(
                    tokens=sum(embedded.tokens),
                    queue_seconds=embedded.queue_seconds,
                    inference_seconds=embedded.inference_seconds,
                )
        except TimeoutError:
            raise self._too_late() from None
        if told:
            self._context.add(
                embedded, texts, model=encoder.name, on_gpu=encoder.on_gpu, places=places
            )
        self.metrics.observe_embedded(embedded)
        return embedded

    @property
    def truncated(self) -> int:
        """How many of the inputs were cut."""
        return len(self._context.truncated)

    async def run(
        self,
        call: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Return what a blocking `call` returns, run on another thread.

        It shares the threads with every read: what may wait for others for long is no call for it.
        """
        return await anyio.to_thread.run_sync(lambda: call(*args, **kwargs))

    async def write(
        self,
        corpus: str,
        call: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Return what a blocking `call` returns that changes `corpus`, begun in its turn.

        Past the request's time one that still waits for its turn is dropped; one that has begun is
        waited for, since its client must learn whether it was done.

        Raises:
            DeadlineError: The request's time ran out.
        """
        return await self._write(corpus, self._seconds_left(), lambda: call(*args, **kwargs))

    async def write_part(
        self,
        corpus: str,
        call: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Write one batch of a streamed body, as `write` does; each has the whole timeout."""
        return await self._write(corpus, self.timeout_seconds, lambda: call(*args, **kwargs))

    async def _write(self, corpus: str, seconds: float, call: Callable[[], Result]) -> Result:
        turns = self._turns_to_write.of(corpus)
        async with self._in_time(seconds):
            await turns.acquire()
        try:
            # The turns bound the threads that there are.
            return await anyio.to_thread.run_sync(call, limiter=anyio.CapacityLimiter(1))
        finally:
            turns.release()

    async def read(
        self,
        call: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Return what a blocking `call` returns that changes nothing, while the request has time.

        Past its time a call that still waits for a thread is dropped; one that has begun cannot be
        broken off, and what it returns is.

        Raises:
            DeadlineError: The request's time ran out.
        """
        async with self._in_time(self._seconds_left()):
            return await anyio.to_thread.run_sync(
                lambda: call(*args, **kwargs), abandon_on_cancel=True
            )

    async def compute(
        self,
        call: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Return what a blocking `call` returns, while somebody waits for it; see `check`.

        Raises:
            DeadlineError: The request's time ran out.
            ClientDisconnect: The client is gone.
        """
        async with self._awaited():
            return await anyio.to_thread.run_sync(
                lambda: call(*args, **kwargs), abandon_on_cancel=True
            )

    async def compute_in_turn(
        self,
        turn: asyncio.Semaphore,
        call: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Return what a blocking `call` returns, begun once it has its `turn`; see `check`.

        The turn is passed on when the call has ended, however long its request has been over.

        Raises:
            DeadlineError: The request's time ran out.
            ClientDisconnect: The client is gone.
        """

        def begin() -> Result:
            self.check()
            return call(*args, **kwargs)

        def ended(running: asyncio.Task[Result]) -> None:
            turn.release()
            if not running.cancelled():
                running.exception()  # or asyncio complains where nobody waits for it

        async with self._awaited():
            await turn.acquire()
            running = asyncio.create_task(self.run(begin))
            running.add_done_callback(ended)
            return await asyncio.shield(running)

    def client_there(self) -> AbstractAsyncContextManager[None]:
        """Break off what runs inside when the client is gone; its body must have been read whole.

        Raises:
            ClientDisconnect: It is.
        """
        return cancelled_on_disconnect(self._request)

    def check(self) -> None:
        """Raise DeadlineError once nobody waits for the answer.

        Long blocking calls ask between their steps: a thread cannot be broken off from outside.
        """
        if self._given_up or self._seconds_left() <= 0:
            raise self._too_late()

    @asynccontextmanager
    async def _awaited(self) -> AsyncIterator[None]:
        """Give up what runs inside when the request's time is over or its client is gone."""
        try:
            async with self.client_there(), self._in_time(self._seconds_left()):
                yield
        except (ClientDisconnect, asyncio.CancelledError):
            self._given_up = True
            raise

    @asynccontextmanager
    async def _in_time(self, seconds: float) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(seconds) as time_left:
                yield
        except TimeoutError:
            if not time_left.expired():
                raise
            raise self._too_late() from None

    def _seconds_left(self) -> float:
        return self.timeout_seconds - (time.perf_counter() - self._context.started)

    def _too_late(self) -> DeadlineError:
        return too_late(self.timeout_seconds)

    def require(self, scope: Scope) -> None:
        """Raise ForbiddenError unless the client has `scope` besides the route's own."""
        check_scope(self.grant, frozenset({scope}))

    def searched(self, corpus: str, seconds: float) -> None:
        """Report one search call."""
        self._context.search_seconds = seconds
        self.metrics.search_seconds.labels(corpus).observe(seconds)


def too_late(seconds: float) -> DeadlineError:
    """Return the error of a request that was given `seconds`."""
    return DeadlineError(
        f"The request was not done within {seconds:g} s.",
        remedy="Send less at a time, or raise the request timeout.",
    )


_A_NUMBER_ABOVE_0 = r"^([0-9]{0,6}\.)?[0-9]{0,6}[1-9][0-9]{0,6}$"
"""What is told in the OpenAPI document; 1e3 and 1.0 are taken too."""


async def _work(
    request: Request,
    timeout: Annotated[
        str,
        Header(
            alias="x-request-timeout",
            description="Seconds that the answer is worth waiting for; then 504",
            examples=["2.5"],
            json_schema_extra={"pattern": _A_NUMBER_ABOVE_0},
        ),
    ] = "",
) -> Work:
    return Work(request, state_of(request.app), timeout=timeout or None)


WorkOf = Annotated[Work, Depends(_work)]


def _seconds(text: str | None) -> float:
    if text is None:
        return math.inf
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InputError(
            "A timeout is a number of seconds above 0.",
            field="x-request-timeout",
            given=text,
            remedy="Send 2.5, say, or leave the header out.",
        )
    return seconds
