from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from service.api.state import state_of
from service.app import create_app
from service.errors import SettingsError
from service.telemetry.logs import JsonFormatter, RequestIdFilter
from service.telemetry.traces import Traces, traces_from_environment
from tests.service.api.running import tiny_settings

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = "00f067aa0ba902b7"


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
async def client(
    tiny_bundle: Path, tmp_path: Path, spans: InMemorySpanExporter
) -> AsyncIterator[httpx.AsyncClient]:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(spans))
    app = create_app(tiny_settings(tiny_bundle, tmp_path), traces=Traces(provider))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://localhost"
        ) as client,
    ):
        await state_of(app).wait_until_settled()
        yield client


def named(spans: InMemorySpanExporter, name: str) -> ReadableSpan:
    (found,) = [span for span in spans.get_finished_spans() if span.name == name]
    return found


async def test_a_request_continues_the_callers_trace(
    client: httpx.AsyncClient, spans: InMemorySpanExporter
) -> None:
    header = {"traceparent": f"00-{TRACE}-{CALLER}-01", "x-request-id": "mine"}
    body = {"inputs": ["a secret text", "another"]}
    assert (await client.post("/embed", json=body, headers=header)).status_code == 200
    request, embedding = named(spans, "POST /embed"), named(spans, "embeddings tiny")
    assert request.kind is SpanKind.SERVER
    assert f"{request.context.trace_id:032x}" == TRACE
    assert request.parent is not None
    assert f"{request.parent.span_id:016x}" == CALLER
    assert embedding.parent is not None
    assert embedding.parent.span_id == request.context.span_id
    assert dict(request.attributes or {}) == {
        "http.request.method": "POST",
        "url.path": "/embed",
        "http.route": "/embed",
        "http.response.status_code": 200,
        "interlingua.request_id": "mine",
    }
    seen = dict(embedding.attributes or {})
    assert seen["gen_ai.operation.name"] == "embeddings"
    assert seen["gen_ai.request.model"] == "tiny"
    assert seen["interlingua.texts"] == 2
    assert isinstance(seen["gen_ai.usage.input_tokens"], int)
    assert "secret" not in str([span.to_json() for span in spans.get_finished_spans()])


async def test_an_error_is_named_and_not_quoted(
    client: httpx.AsyncClient, spans: InMemorySpanExporter
) -> None:
    body = {"inputs": "a secret text " * 100, "truncate": False}
    assert (await client.post("/embed", json=body)).status_code == 422
    embedding = named(spans, "embeddings tiny")
    assert (embedding.attributes or {})["error.type"] == "InputError"
    assert embedding.status.status_code is StatusCode.ERROR
    assert "secret" not in str([span.to_json() for span in spans.get_finished_spans()])


async def test_a_failure_of_ours_marks_the_span(
    client: httpx.AsyncClient, spans: InMemorySpanExporter
) -> None:
    await client.get("/nowhere")
    assert named(spans, "GET unmatched").status.status_code is StatusCode.UNSET
    with Traces(TracerProvider(shutdown_on_exit=False)).request("GET", "/", []) as span:
        span.answered("GET", "/", 503, request_id="x")
        assert span._span is not None
        assert span._span.status.status_code is StatusCode.ERROR  # type: ignore[attr-defined]


def test_the_log_names_the_trace(spans: InMemorySpanExporter) -> None:
    from service.telemetry.logs import trace_id

    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    handler.addFilter(RequestIdFilter())
    logger = logging.Logger("any")
    logger.addHandler(handler)
    token = trace_id.set(TRACE)
    logger.info("answered")
    trace_id.reset(token)
    assert json.loads(stream.getvalue())["trace_id"] == TRACE


def test_nothing_is_made_where_nothing_is_asked_for() -> None:
    for environment in (
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"},
    ):
        with traces_from_environment("1", environment).request("GET", "/", []) as span:
            assert span.trace_id is None


def test_traces_asked_for_without_the_extra_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(SettingsError, match="pip install"):
        traces_from_environment("1", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"})


def test_an_endpoint_is_enough() -> None:
    traces = traces_from_environment("1", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"})
    traces.close()


@pytest.mark.parametrize(
    ("variables", "name", "version"),
    [
        ({}, "interlingua", "1"),
        ({"OTEL_SERVICE_NAME": "mine"}, "mine", "1"),
        ({"OTEL_RESOURCE_ATTRIBUTES": "service.name=mine,service.version=9"}, "mine", "9"),
    ],
)
def test_the_environment_names_the_service(
    variables: dict[str, str], name: str, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    traces = traces_from_environment("1", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"})
    assert traces._provider is not None
    attributes = traces._provider.resource.attributes
    assert (attributes["service.name"], attributes["service.version"]) == (name, version)
    traces.close()
