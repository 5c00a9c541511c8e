from __future__ import annotations

from service.inference.encoder import Encoder
from tests.service.api.running import Running
from tests.tiny_bundle import DIMENSION, LANGUAGES, MAX_TOKENS


async def test_models_are_described(running: Running, tiny_encoder: Encoder) -> None:
    (model,) = (await running.client.get("/models")).json()["models"]
    assert model["name"] == "tiny"
    assert model["default"] is True
    assert model["identity"] == tiny_encoder.manifest.identity
    assert model["dimension"] == DIMENSION
    assert model["languages"] == list(LANGUAGES)
    assert model["max_tokens"] == MAX_TOKENS
    assert "encoders" not in model


async def test_info_has_text_embeddings_inferences_fields(
    running: Running, tiny_encoder: Encoder
) -> None:
    info = (await running.client.get("/info")).json()
    assert info["model_id"] == "tiny"
    assert info["model_sha"] == tiny_encoder.manifest.identity
    assert info["model_type"] == {"embedding": {"pooling": "mean"}}
    assert info["max_input_length"] == MAX_TOKENS
    assert info["max_client_batch_size"] == running.state.settings.max_inputs
    assert info["max_concurrent_requests"] == running.state.settings.max_requests


async def test_the_model_is_in_the_metrics(running: Running, tiny_encoder: Encoder) -> None:
    labels = {"model": "tiny", "sha": tiny_encoder.manifest.identity, "dim": str(DIMENSION)}
    assert await running.metric("interlingua_model_info", **labels) == 1
