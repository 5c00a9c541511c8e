"""GET /models and /info: what is loaded."""

from __future__ import annotations

from importlib import metadata

from fastapi import APIRouter

from service.api.auth import needs_any_key
from service.api.openapi import answer
from service.api.responses import Json
from service.api.schemas.models import InfoAnswer, ModelAnswer, ModelsAnswer
from service.api.state import Loaded, StateOf
from service.inference.encoder import Encoder

router = APIRouter(tags=["models"])


def version() -> str:
    """Return the installed version; `0+source` where the package runs uninstalled."""
    try:
        return metadata.version("interlingua")
    except metadata.PackageNotFoundError:
        return "0+source"


@router.get("/models", responses=answer(ModelsAnswer, "All loaded models"))
@needs_any_key
async def list_models(resources: Loaded) -> Json:
    """List the loaded models, the default one first."""
    default = resources.default_encoder
    return Json(
        {"models": [_describe(e, default=e is default) for e in resources.encoders.values()]}
    )


@router.get("/info", responses=answer(InfoAnswer, "The service and its default model"))
@needs_any_key
async def info(state: StateOf, resources: Loaded) -> Json:
    """Describe the service as text-embeddings-inference does."""
    manifest = resources.default_encoder.manifest
    settings = state.settings
    choice = resources.choices.get(manifest.name)
    execution = resources.default_encoder.execution
    return Json(
        {
            "model_id": manifest.name,
            "model_sha": manifest.identity,
            "model_dtype": served_precision(resources.default_encoder),
            "runtime": execution.runtime,
            "measured": [way.model_dump() for way in choice.measured] if choice else [],
            "served_model_name": manifest.name,
            "model_type": {"embedding": {"pooling": manifest.pooling}},
            "max_input_length": manifest.max_tokens,
            "max_batch_tokens": settings.batch_tokens,
            "max_client_batch_size": settings.max_inputs,
            "max_concurrent_requests": settings.max_requests,
            "max_queue_tokens": settings.queue_tokens,
            "auto_truncate": True,
            "tokenization_workers": settings.workers,
            "version": version(),
            "sha": None,
            "docker_label": None,
            "max_batch_requests": None,
        }
    )


def served_precision(encoder: Encoder) -> str:
    """Return what `encoder` computes in; ONNX Runtime in what its graph was written in."""
    execution = encoder.execution
    return encoder.manifest.precision if execution.precision == "fp32" else execution.precision


def _describe(encoder: Encoder, *, default: bool) -> dict[str, object]:
    manifest = encoder.manifest
    described = manifest.model_dump(mode="json")
    described |= {"identity": manifest.identity, "default": default}
    return {name: described[name] for name in ModelAnswer.model_fields}
