"""Answers of /models, /info and /health."""

from __future__ import annotations

from pydantic import Field, JsonValue

from service.api.schemas.parts import Answer


class ModelAnswer(Answer):
    """A loaded model, described."""

    name: str
    identity: str = Field(description="Of its files: the same weights, the same identity")
    default: bool
    family: str
    description: str
    space: str
    dimension: int
    matryoshka_dimensions: list[int]
    languages: list[str]
    max_tokens: int
    pooling: str
    normalised: bool
    prompts: dict[str, str]
    precision: str
    licence: str
    quality: list[dict[str, JsonValue]]
    limits: list[str]


class ModelsAnswer(Answer):
    """All loaded models, the default one first."""

    models: list[ModelAnswer]


class InfoAnswer(Answer):
    """The service, described as text-embeddings-inference does."""

    model_id: str
    model_sha: str
    model_dtype: str = Field(description="What it computes in")
    runtime: str = Field(description="What it is run on")
    measured: list[dict[str, JsonValue]] = Field(
        description="The ways to run it that were measured here: texts a second on one thread, and "
        "the cosine of vectors with those in full precision; empty where there was but one"
    )
    served_model_name: str
    model_type: dict[str, JsonValue]
    max_input_length: int
    max_batch_tokens: int
    max_client_batch_size: int
    max_concurrent_requests: int
    max_queue_tokens: int
    auto_truncate: bool
    tokenization_workers: int
    version: str
    sha: str | None
    docker_label: str | None
    max_batch_requests: int | None


class HealthAnswer(Answer):
    """Where the service is in its life."""

    status: str


class UpsertDone(Answer):
    """How far a stream of documents came."""

    lines: int = Field(description="That were read")
    inserted: int = Field(description="Documents that were stored")
    updated: int = Field(description="Documents that were stored in the place of others")
    failed: int = Field(description="Lines that are no documents")


class Problem(Answer):
    """RFC 9457: what went wrong, where, and what to do about it."""

    type: str = Field(examples=["urn:interlingua:problem:not-found"])
    title: str
    status: int
    detail: str
    field: str | None = Field(None, description="The part of the request at fault")
    given: str | None = Field(None, description="Its value, shortened")
    remedy: str | None = Field(None, description="What to do about it")
    done: UpsertDone | None = Field(
        None, description="Of a stream of documents that broke off: what was stored, and stays"
    )
    request_id: str | None = None
    error: str | None = Field(
        None, description="detail and remedy, where text-embeddings-inference has this address too"
    )
    error_type: str | None = Field(None, description="Its kind, as text-embeddings-inference says")
