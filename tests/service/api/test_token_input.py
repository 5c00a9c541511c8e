"""Token ids where a text is due: refused, the model's own, or OpenAI's."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.api.token_input import decoder_for
from service.errors import InputError
from service.inference.encoder import Encoder
from tests.service.api.running import run_app, tiny_settings

TEXT = "Fresh bread smells"


async def test_native_ids_give_the_texts_own_vector(
    tiny_bundle: Path, tiny_encoder: Encoder, tmp_path: Path
) -> None:
    ids = list(tiny_encoder.towers["*"].tokenizer.encode([TEXT], max_tokens=64).tokens[0])
    settings = tiny_settings(tiny_bundle, tmp_path / "data", token_input="native")
    async with run_app(settings) as running:
        for body in ({"input": ids}, {"input": [ids]}):
            response = await running.client.post("/v1/embeddings", json=body)
            expected = await running.client.post("/v1/embeddings", json={"input": TEXT})
            assert response.json() == expected.json()
        mixed = await running.client.post("/v1/embeddings", json={"input": [ids, "text"]})
        assert mixed.status_code == 200
        broken = await running.client.post("/v1/embeddings", json={"input": [[1, "x"]]})
        assert broken.status_code == 400
        foreign = await running.client.post("/v1/embeddings", json={"input": [[15339, 1917]]})
        assert foreign.status_code == 400
        assert "lie in 0 to" in foreign.json()["error"]["message"]


def test_by_default_nothing_reads_them(tiny_encoder: Encoder) -> None:
    assert decoder_for("reject", tiny_encoder) is None


def test_ids_beyond_the_vocabulary_are_refused(tiny_encoder: Encoder) -> None:
    read = decoder_for("native", tiny_encoder)
    assert read is not None
    with pytest.raises(InputError, match="lie in 0 to"):
        read([10**9])
