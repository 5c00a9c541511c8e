"""Every setting of the service: a flag, an `INTERLINGUA_` variable and a line of `.env` alike."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from service.bundle.library import ModelLibrary
from service.errors import InputError
from service.hardware import available_cores
from service.inference.wishes import PrecisionWish, RuntimeWish
from service.security.keys import Keys
from service.shipped import default_models, shipped_heads


def default_data() -> Path:
    """Return where corpora and models are kept when nothing else is said."""
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "interlingua"


MAY_BE_EMPTY = frozenset({"head"})
"""Settings of which nothing is a choice: no classifiers."""

TokenInput = Literal["reject", "native", "cl100k_base"]


def _resolved(path: Path) -> Path:
    try:
        return path.expanduser().resolve()
    except RuntimeError as error:  # what pathlib raises is no ValueError, which pydantic explains
        raise ValueError(f"the path {path} leads nowhere: {error}") from None


Directory = Annotated[Path, AfterValidator(_resolved)]


class Settings(BaseSettings):
    """What an operator may choose. The order of precedence is flag, variable, `.env`, default."""

    model_config = SettingsConfigDict(
        env_prefix="INTERLINGUA_",
        env_file=".env",
        env_file_encoding="utf-8",
        extra="ignore",
        hide_input_in_errors=True,  # it may be a key
    )

    host: str = Field("127.0.0.1", description="Address to listen on")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 picks a free one")
    data: Directory = Field(
        default_factory=default_data,
        description="Directory of corpora, classifiers and imported models; "
        "~/.local/share/interlingua by default, or interlingua below XDG_DATA_HOME",
    )
    model: Annotated[list[Path], NoDecode] = Field(
        default_factory=default_models,
        description="Directory of a bundle or of sentence-transformers, or the name of a "
        "shipped or imported model; may be given several times, the first is the default model. "
        "interlingua-mini by default",
    )
    head: Annotated[list[Directory], NoDecode] = Field(
        default_factory=shipped_heads,
        description="Classifier bundle directory; may be given several times. The shipped ones by "
        "default",
    )
    demo_corpus: bool = Field(
        True, description="Whether a fresh data directory gets the demo corpus"
    )
    workers: int = Field(
        default_factory=available_cores,
        ge=1,
        le=256,
        description="Encoder threads; as many as cores by default, cgroup quota respected",
    )
    runtime: RuntimeWish = Field(
        "auto",
        description="What transformers are run on: onnxruntime; openvino (extra openvino); auto "
        "measures what is installed and keeps the figures in the data directory",
    )
    precision: PrecisionWish = Field(
        "auto",
        description="What transformers compute in: fp32, bf16, int8; or auto, the fastest measured "
        "whose vectors stay within a cosine of 0.99 of full precision",
    )
    when_device_lost: Literal["fall-back", "fail-over"] = Field(
        "fall-back",
        description="What to do when a GPU, or whatever else runs a model, is gone for good: "
        "fall-back to the CPU; or fail-over: say at /health that another replica must answer, and "
        "that this one is to be started again",
    )
    batch_tokens: int = Field(
        4096,
        ge=16,
        le=1_048_576,
        description="Tokens of one batch at most, padding counted where it is computed; "
        "transformers on a CPU take fewer (256 on ONNX Runtime, 384 on OpenVINO)",
    )
    queue_tokens: int = Field(
        262_144, ge=16, description="Padded tokens that may wait before requests get a 429"
    )
    cache_mib: int = Field(
        0, ge=0, description="MiB of vectors of recent texts that are kept, oldest forgotten first"
    )
    queue_seconds: float = Field(
        0.3,
        gt=0,
        description="About how long what waits may take before requests get a 429, at the speed "
        "measured lately; thirty-two full batches may wait in any case, and eight requests",
    )
    max_requests: int = Field(
        512,
        ge=1,
        description="Requests that are answered at a time; those that come then get a 429, and "
        "those of a key that has four fifths of them, or without a key where keys are set",
    )
    max_inputs: int = Field(2048, ge=1, description="Texts in one request")
    token_input: TokenInput = Field(
        "reject", description="Token ids in place of texts: reject; native for the default model's "
        "own; cl100k_base for OpenAI's, which LangChain sends (needs the extra tiktoken)",
    )  # fmt: skip
    vector_engine: str = Field(
        "",
        description="Milvus engine that holds the corpora: http://host:19530, or a path ending in "
        ".db for the embedded one; empty for the built-in store",
    )
    vector_engine_token: SecretStr | None = Field(
        None, description="user:password or key of the vector engine"
    )
    search_device: Literal["auto", "cpu", "gpu"] = Field(
        "auto",
        description="Where every vector of a large flat corpus is compared: auto takes a GPU where "
        "FAISS sees one (extra gpu); gpu does not start without",
    )
    max_body_bytes: int = Field(8_000_000, ge=1024, description="Bytes of one request's body")
    request_timeout_seconds: float = Field(
        60.0, gt=0, description="Work not begun by then is dropped with a 504"
    )
    client_timeout_seconds: float = Field(
        30.0,
        gt=0,
        description="How long a client may take to send its headers, to send the next part of its "
        "body, and to read what is ready",
    )
    keep_alive_seconds: int = Field(
        75,
        ge=1,
        description="How long a connection without a request is kept; longer than a load balancer "
        "before it does, or one of its requests may meet a connection that is being closed",
    )
    drain_seconds: float = Field(
        20.0, ge=0, description="How long a shutdown waits for requests that are running"
    )
    drain_notice_seconds: float = Field(
        0.0,
        ge=0,
        description="How long a shutdown goes on taking requests after it has told probes that it "
        "is leaving, so that load balancers turn away first",
    )
    api_keys: Annotated[list[SecretStr], NoDecode] = Field(
        default_factory=list,
        description="Keys that clients must send as a bearer token, or sha256: and their digests; "
        "good for everything. None means open to all, on this machine alone",
    )
    api_keys_file: Directory | None = Field(
        None,
        description="File of further keys, one a line, with their scopes, corpora and rates "
        "(interlingua keys new); read again when it changes, so that keys are added and revoked "
        "without a restart",
    )
    open_to_network: bool = Field(
        False,
        description="Answer everybody on an address that other machines reach, though no keys are "
        "set: for where something else guards it, such as a proxy or a port of this machine alone",
    )
    log_format: str = Field(
        "plain", pattern="^(plain|json)$", description="Log lines for people, or JSON for machines"
    )
    log_level: str = Field("info", pattern="^(debug|info|warning|error)$", description="Verbosity")

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, values: dict[str, object]) -> dict[str, object]:
        # Compose files and manifests write `${NAME:-}`: what is empty is not said. An empty data
        # path would be the working directory.
        values = {n: value for n, value in values.items() if value != "" or n in MAY_BE_EMPTY}
        for name, separator in (("model", os.pathsep), ("head", os.pathsep), ("api_keys", ",")):
            value = values.get(name)
            if isinstance(value, str):
                values[name] = [part for part in value.split(separator) if part]
        return values

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        library = ModelLibrary(self.data)
        self.model = [_resolved(library.find(model)) for model in self.model]
        if not self.model:
            raise ValueError("model: no bundle is given and none is shipped; pass --model DIR")
        self._check_keys()
        if self.workers > (cores := available_cores()):
            raise ValueError(
                f"workers ({self.workers}) is above the {cores} cores that this process may use; "
                "threads that share a core only wait for each other. Lower it, or raise the quota"
            )
        if self.queue_tokens < self.batch_tokens:
            raise ValueError(
                f"queue_tokens ({self.queue_tokens}) is below batch_tokens ({self.batch_tokens}); "
                "raise the one or lower the other"
            )
        return self

    def _check_keys(self) -> None:
        file = self.api_keys_file
        try:
            if file is not None and not file.is_file():
                raise ValueError(f"api_keys_file: there is no file {file}")
            Keys([key.get_secret_value() for key in self.api_keys], file)
        except InputError as error:
            raise ValueError(str(error)) from None
        except OSError as error:
            raise ValueError(
                f"api_keys_file: {file} cannot be read: {error.strerror}; have it owned by, or "
                "readable for, the user that the service runs as"
            ) from None
        except UnicodeDecodeError as error:
            raise ValueError(f"api_keys_file: {file} is no UTF-8: {error.reason}") from None
