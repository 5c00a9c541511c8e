"""A directory of transformers beside a bundle, both served, named in requests."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from service.inference.encoder import Encoder
from tests.service.api.running import Running, run_app, tiny_settings
from tests.service.huggingface.conftest import tiny_states_graph


@pytest.fixture
def brought(tiny_bundle: Path, tmp_path: Path) -> Path:
    directory = tmp_path / "brought"
    directory.mkdir()
    shutil.copy(tiny_bundle / "tokenizer.model", directory / "spiece.model")
    files: dict[str, object] = {
        "config.json": {"model_type": "t5", "d_model": 16, "eos_token_id": 2, "pad_token_id": 0},
        "tokenizer_config.json": {"tokenizer_class": "T5Tokenizer", "model_max_length": 32},
        "config_sentence_transformers.json": {
            "prompts": {"query": "query: ", "plain": "text: "},
            "default_prompt_name": "query",
        },
    }
    for name, content in files.items():
        (directory / name).write_text(json.dumps(content))
    tiny_states_graph(directory / "model.onnx", 2000)
    return directory


@pytest.fixture
async def both(tiny_bundle: Path, brought: Path, tmp_path: Path) -> AsyncIterator[Running]:
    settings = tiny_settings(tiny_bundle, tmp_path / "data", model=[tiny_bundle, brought])
    async with run_app(settings) as running:
        yield running


async def test_a_request_names_its_model(
    both: Running, brought: Path, tiny_encoder: Encoder
) -> None:
    text = "Fresh bread"
    own = Encoder(brought)
    for model, expected in (
        ("tiny", tiny_encoder.encode(text)),
        (None, tiny_encoder.encode(text)),
        # Its own default prompt is put before the text, and vectors are scaled to length 1.
        ("brought", own.encode(text, normalize=True, prefix="query: ")),
    ):
        answer = await both.client.post("/embed", json={"inputs": text, "model": model})
        np.testing.assert_allclose(answer.json()[0], expected, atol=1e-6)
        assert answer.headers["x-model"] == (model or "tiny")
        if model:
            openai = await both.client.post("/v1/embeddings", json={"input": text, "model": model})
            assert openai.json()["model"] == model
            np.testing.assert_allclose(openai.json()["data"][0]["embedding"], expected, atol=1e-6)


async def test_a_named_prompt_comes_before_the_default(both: Running, brought: Path) -> None:
    body = {"inputs": "bread", "model": "brought", "prompt_name": "plain", "normalize": False}
    answer = await both.client.post("/embed", json=body)
    expected = Encoder(brought).encode("bread", normalize=False, prefix="text: ")
    np.testing.assert_allclose(answer.json()[0], expected, atol=1e-6)


async def test_a_model_of_unknown_languages_takes_every_one(both: Running) -> None:
    body = {"inputs": "leipä", "model": "brought", "language": "fi"}
    assert (await both.client.post("/embed", json=body)).status_code == 200
    assert (await both.client.post("/embed", json=body | {"model": "tiny"})).status_code == 422


async def test_both_are_listed(both: Running) -> None:
    models = (await both.client.get("/models")).json()["models"]
    assert [model["name"] for model in models] == ["tiny", "brought"]
    assert models[1]["prompts"] == {"query": "query: ", "plain": "text: "}
    assert models[1]["max_tokens"] == 32
    listed = (await both.client.get("/v1/models")).json()["data"]
    assert [model["id"] for model in listed] == ["tiny", "brought"]
