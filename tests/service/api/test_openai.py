from __future__ import annotations

import base64
from pathlib import Path

import httpx
import numpy as np
import pytest
from pydantic import SecretStr

from service.bundle.reader import read_bundle
from service.bundle.writer import write_bundle
from service.inference.encoder import Encoder
from tests.service.api.running import Running, run_app, tiny_settings

TEXTS = ["The cat sleeps.", "Fresh bread"]


def assert_openai_error(response: httpx.Response, status: int, param: str | None) -> None:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["param"] == param
    assert isinstance(error["code"], str)


async def test_floats_are_what_a_plain_client_gets(running: Running, tiny_encoder: Encoder) -> None:
    body = {"input": TEXTS, "model": "text-embedding-3-small", "user": "u"}
    answer = (await running.client.post("/v1/embeddings", json=body)).json()
    assert answer["object"] == "list"
    assert answer["model"] == "tiny"
    assert [row["index"] for row in answer["data"]] == [0, 1]
    assert {row["object"] for row in answer["data"]} == {"embedding"}
    vectors = [row["embedding"] for row in answer["data"]]
    np.testing.assert_allclose(vectors, tiny_encoder.encode(TEXTS), atol=1e-6)
    assert answer["usage"]["prompt_tokens"] == answer["usage"]["total_tokens"] > 0
    assert "truncated" not in answer["usage"]


async def test_vectors_have_length_one_whatever_the_bundles_own_have(
    tiny_bundle: Path, tmp_path: Path
) -> None:
    bundle = read_bundle(tiny_bundle)
    manifest = bundle.manifest.model_copy(update={"normalised": False})
    files = {name: (tiny_bundle / name).read_bytes() for name in manifest.files}
    raw = write_bundle(tmp_path / "raw", manifest, files).directory
    async with run_app(tiny_settings(raw, tmp_path / "data")) as running:
        body = {"input": TEXTS, "model": "tiny"}
        answer = (await running.client.post("/v1/embeddings", json=body)).json()
        plain = {"inputs": TEXTS, "normalize": False}
        own = (await running.client.post("/embed", json=plain)).json()
    lengths = np.linalg.norm([row["embedding"] for row in answer["data"]], axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-6)
    assert (abs(np.linalg.norm(own, axis=1) - 1) > 0.01).all()


async def test_base64_is_little_endian_float32(running: Running, tiny_encoder: Encoder) -> None:
    body = {"input": TEXTS, "model": "tiny", "encoding_format": "base64"}
    answer = (await running.client.post("/v1/embeddings", json=body)).json()
    vectors = [
        np.frombuffer(base64.b64decode(row["embedding"]), dtype="<f4") for row in answer["data"]
    ]
    np.testing.assert_allclose(vectors, tiny_encoder.encode(TEXTS), atol=1e-6)


async def test_one_string_gives_one_vector_of_the_dimensions_asked_for(running: Running) -> None:
    body = {"input": "cat", "model": "tiny", "dimensions": 4}
    (row,) = (await running.client.post("/v1/embeddings", json=body)).json()["data"]
    assert np.linalg.norm(row["embedding"]) == pytest.approx(1, abs=1e-6)
    assert len(row["embedding"]) == 4


async def test_an_empty_string_is_a_text(running: Running) -> None:
    response = await running.client.post("/v1/embeddings", json={"input": "", "model": "tiny"})
    assert response.status_code == 200


async def test_usage_tells_what_was_cut(running: Running) -> None:
    body = {"input": ["a", "cat " * 500], "model": "tiny"}
    answer = (await running.client.post("/v1/embeddings", json=body)).json()
    assert answer["usage"]["truncated"] == [1]


@pytest.mark.parametrize(
    ("body", "status", "param"),
    [
        ({"model": "tiny"}, 400, "input"),
        ({"input": [], "model": "tiny"}, 400, "input"),
        ({"input": [15339, 1917], "model": "tiny"}, 400, "input"),
        ({"input": [[15339, 1917], [5]], "model": "tiny"}, 400, "input"),
        ({"input": "a", "model": "tiny", "encoding_format": "int8"}, 400, "encoding_format"),
        ({"input": "a", "model": "tiny", "dimensions": 4096}, 400, "dimensions"),
        ({"input": ["a"] * 2049, "model": "tiny"}, 413, "input"),
    ],
)
async def test_errors_have_openais_shape(
    running: Running, body: dict[str, object], status: int, param: str
) -> None:
    assert_openai_error(await running.client.post("/v1/embeddings", json=body), status, param)


@pytest.mark.parametrize("user", [None, 7, {"id": 7}, ["a"]])
async def test_the_user_is_ignored_whatever_it_is(running: Running, user: object) -> None:
    response = await running.client.post("/v1/embeddings", json={"input": TEXTS, "user": user})
    assert response.status_code == 200, response.text


async def test_token_ids_are_refused_with_the_way_out(running: Running) -> None:
    response = await running.client.post("/v1/embeddings", json={"input": [[1, 2]], "model": "m"})
    assert "check_embedding_ctx_length=False" in response.json()["error"]["message"]


async def test_broken_json_and_unknown_addresses_too(running: Running) -> None:
    headers = {"content-type": "application/json"}
    broken = await running.client.post("/v1/embeddings", content=b'{"input": ', headers=headers)
    assert_openai_error(broken, 400, "body")
    assert_openai_error(await running.client.get("/v1/nothing"), 404, None)


async def test_a_missing_key_too(tiny_bundle: Path, tmp_path: Path) -> None:
    settings = tiny_settings(tiny_bundle, tmp_path, api_keys=[SecretStr("sesame")])
    async with run_app(settings) as running:
        response = await running.client.post("/v1/embeddings", json={"input": "a"})
        assert_openai_error(response, 401, "authorization")


async def test_the_address_without_v1_is_the_same(running: Running) -> None:
    body = {"input": TEXTS, "model": "tiny"}
    expected = await running.client.post("/v1/embeddings", json=body)
    assert (await running.client.post("/embeddings", json=body)).json() == expected.json()
    assert_openai_error(await running.client.post("/embeddings", json={}), 400, "input")


async def test_one_model_is_described(running: Running) -> None:
    answer = (await running.client.get("/v1/models/tiny")).json()
    assert (answer["id"], answer["object"]) == ("tiny", "model")
    missing = await running.client.get("/v1/models/large")
    assert_openai_error(missing, 404, "model")
    assert missing.json()["error"]["message"].endswith("loaded: tiny. Name one of them.")


async def test_models_are_listed(running: Running) -> None:
    answer = (await running.client.get("/v1/models")).json()
    assert answer["object"] == "list"
    assert [(m["id"], m["object"]) for m in answer["data"]] == [("tiny", "model")]
