from __future__ import annotations

import base64
import io

import numpy as np
import pytest

from service.api.negotiation import BYTES, NPY, preferred
from service.inference.encoder import Encoder
from tests.service.api.running import Running
from tests.tiny_bundle import DIMENSION

TEXTS = ["The cat sleeps.", "Fresh bread"]


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", None),
        ("*/*", None),
        ("application/json", None),
        ("text/html, image/*;q=0.8", None),
        (BYTES, BYTES),
        (f"{NPY}, */*;q=0.1", NPY),
        (f"{NPY};q=0.5, application/json", None),
        (f"application/json;q=0.5,{BYTES};q=0.9", BYTES),
        (f"{BYTES};q=0", None),
        (f"{BYTES};q=x", None),
    ],
)
def test_what_accept_asks_for(accept: str, expected: str | None) -> None:
    assert preferred(accept) == expected


async def test_bytes_are_rows_of_little_endian_numbers(
    running: Running, tiny_encoder: Encoder
) -> None:
    response = await running.client.post(
        "/embed", json={"inputs": TEXTS}, headers={"accept": BYTES}
    )
    assert response.headers["content-type"] == BYTES
    assert response.headers["x-vector-shape"] == f"2,{DIMENSION}"
    assert response.headers["x-vector-type"] == "float32"
    vectors = np.frombuffer(response.content, dtype="<f4").reshape(2, DIMENSION)
    np.testing.assert_allclose(vectors, tiny_encoder.encode(TEXTS), atol=1e-6)


@pytest.mark.parametrize(
    ("precision", "dtype", "width"),
    [
        (None, np.float32, DIMENSION),
        ("float16", np.float16, DIMENSION),
        ("int8", np.int8, DIMENSION),
        ("ubinary", np.uint8, DIMENSION // 8),
        ("binary", np.int8, DIMENSION // 8),
    ],
)
async def test_each_precision_in_each_form(
    running: Running, precision: str | None, dtype: type, width: int
) -> None:
    body = {"inputs": TEXTS, "precision": precision}
    answer = await running.client.post("/embed", json=body, headers={"accept": NPY})
    vectors = np.load(io.BytesIO(answer.content))
    assert vectors.dtype == dtype
    assert vectors.shape == (2, width)
    as_json = (await running.client.post("/embed", json=body)).json()
    np.testing.assert_array_equal(np.array(as_json, dtype=dtype), vectors)
    encoded = (
        await running.client.post("/embed", json=body | {"encoding_format": "base64"})
    ).json()
    for row, text in zip(vectors, encoded, strict=True):
        np.testing.assert_array_equal(np.frombuffer(base64.b64decode(text), dtype), row)
    openai = await running.client.post(
        "/v1/embeddings",
        json={"input": TEXTS, "precision": precision, "encoding_format": "base64"},
    )
    assert [row["embedding"] for row in openai.json()["data"]] == encoded
