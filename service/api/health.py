"""Probes and metrics: public, cheap, and never waiting for a model."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from starlette.responses import Response

from service.api.openapi import PROBLEMS, answer
from service.api.responses import Json
from service.api.schemas.models import HealthAnswer
from service.api.state import Phase, State, StateOf
from service.errors import UnavailableError

router = APIRouter(tags=["health"])

_YES_OR_NO = answer(HealthAnswer, "Yes") | {503: PROBLEMS[503] | {"description": "No, and why"}}


@router.get("/health/live", responses=_YES_OR_NO)
async def live(state: StateOf) -> Json:
    """Whether the process is of use; a restart is due when it does not say so."""
    if state.device_lost:
        raise _device_lost()
    return Json({"status": "alive"})


@router.get("/health/startup", responses=_YES_OR_NO)
async def startup(state: StateOf) -> Json:
    """Whether loading is over."""
    if state.phase in (Phase.LOADING, Phase.FAILED):
        raise _unavailable(state)
    return Json({"status": "started"})


@router.get("/health/ready", responses=_YES_OR_NO)
@router.get("/health", responses=_YES_OR_NO)
async def ready(state: StateOf) -> Json:
    """Whether requests are taken now: loaded, not about to stop, and room in the queue."""
    if state.phase is not Phase.READY:
        raise _unavailable(state)
    if state.device_lost:
        raise _device_lost()
    if state.leaving:
        raise UnavailableError("The service will stop.", remedy="Send requests to another replica.")
    if state.resources.engine.queue.is_full:
        raise UnavailableError("The queue is full.", remedy="Send new requests to another replica.")
    return Json({"status": "ready"})


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}, "description": "Prometheus' text format"}},
)
async def metrics(state: StateOf) -> Response:
    """Give all metrics, in Prometheus' text format."""
    # On a thread that no search waits for.
    page = await asyncio.to_thread(state.metrics.render)
    return Response(page, media_type="text/plain; version=0.0.4; charset=utf-8")


def _device_lost() -> UnavailableError:
    return UnavailableError(
        "What runs the model is gone.", remedy="Send requests to another replica; restart this one."
    )


def _unavailable(state: State) -> UnavailableError:
    if state.phase is Phase.FAILED:
        # What failed names files of the machine: that is for its operator, in the log.
        return UnavailableError("Loading failed.", remedy="The service's log says why.")
    return UnavailableError(f"The service is {state.phase.value}.", remedy="Ask again in a moment.")
