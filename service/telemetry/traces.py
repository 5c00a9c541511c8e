"""OpenTelemetry traces: a span a request and one an embedding; the extra `otel`, where asked for.

Asked for by the standard variables: `OTEL_EXPORTER_OTLP_ENDPOINT` (or `..._TRACES_ENDPOINT`) names
the collector, OTLP over HTTP; `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`,
`OTEL_TRACES_SAMPLER` and the others work as the SDK documents them. A caller's W3C `traceparent` is
continued. Names and attributes are those of OpenTelemetry's semantic conventions for HTTP servers
and generative AI; texts are never among them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from service.errors import SettingsError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


class RequestSpan:
    """The span of a request; does nothing where no traces are made."""

    def __init__(self, span: Span | None = None) -> None:
        self._span = span

    @property
    def trace_id(self) -> str | None:
        """The trace's id in hexadecimal, for the log."""
        if self._span is None:
            return None
        return f"{self._span.get_span_context().trace_id:032x}"

    def answered(self, method: str, route: str, status: int, *, request_id: str) -> None:
        """Take what is known in the end."""
        if self._span is None:
            return
        self._span.update_name(f"{method} {route}")
        self._span.set_attributes(
            {
                "http.route": route,
                "http.response.status_code": status,
                "interlingua.request_id": request_id,
            }
        )
        if status >= 500:
            from opentelemetry.trace import StatusCode

            self._span.set_status(StatusCode.ERROR)


class Traces:
    """Makes spans with `provider`, or none.

    Args:
        provider: Where spans go; None for nowhere.
    """

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._provider = provider
        self._tracer: Tracer | None = provider.get_tracer("interlingua") if provider else None

    @property
    def made(self) -> bool:
        """Whether there are any."""
        return self._tracer is not None

    @contextmanager
    def request(
        self, method: str, path: str, headers: Iterable[tuple[bytes, bytes]]
    ) -> Iterator[RequestSpan]:
        """Span a request, as a part of the caller's trace where `headers` name one."""
        if self._tracer is None:
            yield RequestSpan()
            return
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        with (
            self._tracer.start_as_current_span(
                method,
                context=TraceContextTextMapPropagator().extract(
                    {str(name, "latin-1"): str(value, "latin-1") for name, value in headers}
                ),
                kind=SpanKind.SERVER,
                attributes={"http.request.method": method, "url.path": path},
                record_exception=False,
                set_status_on_exception=False,
            ) as span,
            _errors_named(span),
        ):
            yield RequestSpan(span)

    @contextmanager
    def embedding(self, model: str, texts: int) -> Iterator[EmbeddingSpan]:
        """Span the embedding of `texts` texts."""
        if self._tracer is None:
            yield EmbeddingSpan()
            return
        with (
            self._tracer.start_as_current_span(
                f"embeddings {model}",
                attributes={
                    "gen_ai.operation.name": "embeddings",
                    "gen_ai.request.model": model,
                    "interlingua.texts": texts,
                },
                record_exception=False,
                set_status_on_exception=False,
            ) as span,
            _errors_named(span),
        ):
            yield EmbeddingSpan(span)

    def close(self) -> None:
        """Send what was not sent yet."""
        if self._provider is not None:
            self._provider.shutdown()


@contextmanager
def _errors_named(span: Span) -> Iterator[None]:
    """Mark `span` with the class of an error; what the error says may quote a text."""
    try:
        yield
    except Exception as error:
        from opentelemetry.trace import StatusCode

        span.set_attribute("error.type", type(error).__name__)
        span.set_status(StatusCode.ERROR)
        raise


class EmbeddingSpan:
    """The span of an embedding; does nothing where no traces are made."""

    def __init__(self, span: Span | None = None) -> None:
        self._span = span

    def done(self, *, tokens: int, queue_seconds: float, inference_seconds: float) -> None:
        """Take what it took."""
        if self._span is not None:
            self._span.set_attributes(
                {
                    "gen_ai.usage.input_tokens": tokens,
                    "interlingua.queue_seconds": queue_seconds,
                    "interlingua.inference_seconds": inference_seconds,
                }
            )


def traces_from_environment(version: str, environment: Mapping[str, str] | None = None) -> Traces:
    """Return traces that go where the OTEL_ variables say, or nowhere where they say nothing.

    Raises:
        SettingsError: They ask for traces and the extra is not installed.
    """
    environment = os.environ if environment is None else environment
    disabled = environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
    if disabled or not any(environment.get(name) for name in ENDPOINTS):
        return Traces()
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise SettingsError(
            "Traces are asked for, but OpenTelemetry is not installed.",
            field=next(name for name in ENDPOINTS if environment.get(name)),
            remedy="Install the extra: pip install 'interlingua[otel]', or unset the variable.",
        ) from error
    # What the variables say goes before ours; the SDK has it the other way round.
    ours = {SERVICE_NAME: "interlingua", "service.version": version}
    resource = Resource.create(ours | dict(OTELResourceDetector().detect().attributes))
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Traces(provider)
