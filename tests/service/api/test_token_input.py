"""Token ids where a text is due: refused, the model's own, or OpenAI's."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.api import token_input
from service.api.token_input import decoder_for
from service.errors import InputError, SettingsError
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
        foreign = await running.client.post("/v1/embeddings", json={"input": [ids, [15339, 1917]]})
        assert foreign.status_code == 400
        assert foreign.json()["error"]["param"] == "input[1]"
        assert "lie in 0 to" in foreign.json()["error"]["message"]


def test_by_default_nothing_reads_them(tiny_encoder: Encoder) -> None:
    assert decoder_for("reject", tiny_encoder) is None


def test_ids_beyond_the_vocabulary_are_refused(tiny_encoder: Encoder) -> None:
    read = decoder_for("native", tiny_encoder)
    assert read is not None
    with pytest.raises(InputError, match="lie in 0 to"):
        read([10**9])


class Vocabulary:
    """Stands for tiktoken, which would fetch its own."""

    def __init__(self) -> None:
        self.asked = 0

    def get_encoding(self, name: str) -> Vocabulary:
        assert name == "cl100k_base"
        self.asked += 1
        return self

    def decode(self, ids: list[int]) -> str:
        return {"1 2 3": TEXT}[" ".join(map(str, ids))]


@pytest.fixture
def forgotten() -> Iterator[None]:
    """OpenAI's vocabulary is not loaded, before and after."""
    token_input._cl100k_base.cache_clear()
    yield
    token_input._cl100k_base.cache_clear()


@pytest.mark.usefixtures("forgotten")
async def test_openais_vocabulary_is_loaded_before_the_first_request(
    tiny_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocabulary = Vocabulary()
    monkeypatch.setitem(sys.modules, "tiktoken", vocabulary)
    settings = tiny_settings(tiny_bundle, tmp_path, token_input="cl100k_base")
    async with run_app(settings) as running:
        assert vocabulary.asked == 1
        answers = [
            (await running.client.post("/v1/embeddings", json={"input": sent})).json()
            for sent in ([1, 2, 3], TEXT)
        ]
        assert answers[0] == answers[1]
        foreign = await running.client.post("/v1/embeddings", json={"input": [9]})
        assert foreign.status_code == 400
    assert vocabulary.asked == 1


@pytest.mark.usefixtures("forgotten")
async def test_without_the_extra_it_does_not_start(
    tiny_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    settings = tiny_settings(tiny_bundle, tmp_path, token_input="cl100k_base")
    async with run_app(settings) as running:
        assert isinstance(running.state.failure, SettingsError)
        assert running.state.failure.field == "token_input"
        assert "interlingua[tiktoken]" in str(running.state.failure)
