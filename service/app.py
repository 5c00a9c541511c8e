"""The application: settings in, FastAPI out; models are loaded while it already answers probes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.types import ASGIApp

from service.api import (
    classifiers,
    classify,
    corpora,
    documents,
    embed,
    export,
    fitting,
    health,
    jobs,
    models,
    openai,
    pages,
    projection,
    reencode,
    rerank,
    similar,
    tokenize,
)
from service.api.auth import include_locked, require_key, routes_of, scopes_of
from service.api.context import ContextMiddleware
from service.api.direct import DirectMiddleware
from service.api.head import HeadMiddleware
from service.api.hosts import LocalHostsMiddleware, OtherSitesMiddleware
from service.api.limits import BodyLimitMiddleware
from service.api.loading import close, load
from service.api.openapi import OPENAI_PROBLEMS, PROBLEMS, describe
from service.api.problems import HANDLED, problem_handler
from service.api.room import RoomMiddleware
from service.api.state import Resources, State, state_of
from service.errors import InterlinguaError, UnavailableError
from service.express.lane import Lane
from service.inference.opening import Opening
from service.security.exposure import answers_own_names_alone, asks_for_keys
from service.security.grants import Scope
from service.settings import Settings
from service.telemetry.metrics import Metrics
from service.telemetry.traces import Traces, traces_from_environment

log = logging.getLogger(__name__)

_DESCRIPTION = """\
Sentences of many languages as vectors of one space: embed them, find their neighbours in any
language, classify them. Errors are RFC 9457 problem+json with the field at fault and the remedy;
below /v1 they have OpenAI's shape."""

PUBLIC = (health.router, pages.router)
"""What wants no key."""

LOCKED = tuple(
    family.router
    for family in (
        embed,
        similar,
        classify,
        classifiers,
        corpora,
        documents,
        export,
        fitting,
        jobs,
        models,
        projection,
        reencode,
        rerank,
        tokenize,
    )
)
"""What wants a key; all else is public: probes, metrics and pages."""

LOCKED_BELOW_V1 = (openai.router, rerank.cohere_router)
"""The same, in OpenAI's shape."""


def create_app(
    settings: Settings,
    *,
    traces: Traces | None = None,
    opening: Opening | None = None,
) -> FastAPI:
    """Return the application for `settings`, with `traces` or those that the environment asks for.

    It answers at once when it is started; until the models are loaded, all but the probes answer
    503. Whoever starts it learns from `state_of(app).wait_until_settled()` how loading went.
    Models that are being opened already are waited for instead.

    Raises:
        SettingsError: The environment asks for traces that cannot be made.
    """
    if traces is None:
        traces = traces_from_environment(models.version())
    app = _Application(
        title="Interlingua",
        version=models.version(),
        summary="Multilingual vectors, cross-lingual search and classification.",
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=lambda app: _lifespan(app, traces, opening),
        redirect_slashes=False,
    )
    app.traces = traces
    metrics = Metrics()
    metrics.build_info.labels(models.version()).set(1)
    app.state.interlingua = State(settings, metrics)
    answer_problem = problem_handler(metrics, routes=[*_public_routes(), *_locked_routes()])
    for handled in HANDLED:
        app.add_exception_handler(handled, answer_problem)
    for public in PUBLIC:
        app.include_router(public)
    for router in LOCKED:
        include_locked(app, router, responses=PROBLEMS)
    for below_v1 in LOCKED_BELOW_V1:
        include_locked(app, below_v1, responses=OPENAI_PROBLEMS)
    describe(app)
    return app


def lane_of(app: FastAPI) -> Lane:
    """Return what answers plain requests of an application of ours before they come to it."""
    assert isinstance(app, _Application), "`create_app` made it; this is a bug"
    return Lane(state_of(app), app.traces)


class _Application(FastAPI):
    """What a request goes through, from the outside in."""

    traces: Traces

    def build_middleware_stack(self) -> ASGIApp:
        """Return our layers around FastAPI's own, which what has a short way does not need."""
        state = state_of(self)
        settings, metrics = state.settings, state.metrics
        layers: ASGIApp = DirectMiddleware(
            super().build_middleware_stack(),
            routes=_locked_routes(),
            before=require_key,
            problem=problem_handler(metrics),
        )
        layers = RoomMiddleware(
            layers,
            state,
            embedding=_embedding_paths(),
            probes={route.path for route in routes_of(health.router)},
        )
        layers = BodyLimitMiddleware(
            layers,
            limit_bytes=settings.max_body_bytes,
            seconds=settings.client_timeout_seconds,
            metrics=metrics,
        )
        if not asks_for_keys(settings):
            local = answers_own_names_alone(settings)
            host = settings.host if local else None
            layers = OtherSitesMiddleware(layers, host=host, metrics=metrics)
            if local:
                layers = LocalHostsMiddleware(layers, host=settings.host, metrics=metrics)
        return ContextMiddleware(HeadMiddleware(layers), state, self.traces)


def _public_routes() -> list[APIRoute]:
    return [route for router in PUBLIC for route in routes_of(router)]


def _locked_routes() -> list[APIRoute]:
    return [route for router in (*LOCKED, *LOCKED_BELOW_V1) for route in routes_of(router)]


def _embedding_paths() -> set[str]:
    return {route.path for route in _locked_routes() if Scope.EMBED in scopes_of(route)}


@asynccontextmanager
async def _lifespan(app: FastAPI, traces: Traces, opening: Opening | None) -> AsyncIterator[None]:
    state = state_of(app)
    loading = asyncio.create_task(_load(state, opening))
    try:
        yield
    finally:
        state.begin_draining()
        resources = await loading
        if resources is not None:
            await asyncio.to_thread(close, resources)
        await asyncio.to_thread(traces.close)


async def _load(state: State, opening: Opening | None) -> Resources | None:
    try:
        resources = await asyncio.to_thread(load, state.settings, state.metrics, opening)
    except Exception as error:
        failure = _too_little_memory(error) or error
        if isinstance(failure, InterlinguaError):
            log.error("loading failed: %s", failure)
        else:
            log.exception("loading failed unexpectedly; this is a bug")
        state.fail(failure)
        return None
    state.become_ready(resources)
    return resources


def _too_little_memory(error: Exception) -> InterlinguaError | None:
    """Return what to say where a limit of the process ended loading; None where something else."""
    # Python has no class of its own for a thread that the system refuses.
    if not isinstance(error, MemoryError) and "can't start new thread" not in str(error):
        return None
    return UnavailableError(
        "The limits of this process are too low to load what it is to serve: the system refused "
        f"{'memory' if isinstance(error, MemoryError) else 'a thread'}.",
        remedy="Raise its limits of memory (ulimit -v) and threads (ulimit -u, pids of a cgroup), "
        "or serve fewer models with fewer --workers.",
    )
