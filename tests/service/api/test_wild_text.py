"""Whatever the text, its vector is finite, and the same alone, in any batch and after a restart."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.api.body import parse_json
from service.errors import MalformedError
from service.inference.encoder import Encoder
from service.shipped import shipped_models
from tests.service.api.running import Running
from tests.service.api.wild_texts import BROKEN, NAMED, demo_by_language

TEXTS = {**NAMED, **BROKEN}
TOLERANCE = 1e-5

SHARED = Path(__file__).parents[4] / "shared" / "data"


@pytest.fixture(scope="module", params=["tiny", "shipped"])
def encoder(request: pytest.FixtureRequest, tiny_encoder: Encoder) -> Encoder:
    if request.param == "tiny":
        return tiny_encoder
    models = shipped_models()
    if not models:
        pytest.skip("no model is shipped here")
    return Encoder(models[0])


@pytest.fixture(scope="module")
def alone(encoder: Encoder) -> dict[str, np.ndarray]:
    return {name: encoder.encode([text])[0] for name, text in TEXTS.items()}


def test_every_vector_is_finite(alone: dict[str, np.ndarray]) -> None:
    for name, vector in alone.items():
        assert np.isfinite(vector).all(), name
        assert np.linalg.norm(vector) <= 1 + 1e-5, name


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_same_in_any_batch(
    encoder: Encoder, alone: dict[str, np.ndarray], seed: int
) -> None:
    names = list(TEXTS)
    random.Random(seed).shuffle(names)
    together = encoder.encode([TEXTS[name] for name in names])
    for name, vector in zip(names, together, strict=True):
        assert np.abs(vector - alone[name]).max() <= TOLERANCE, name


def test_every_language_is_the_same_in_any_batch(encoder: Encoder) -> None:
    texts = [text for sentences in demo_by_language().values() for text in sentences]
    together = encoder.encode(texts)
    assert np.isfinite(together).all()
    for text, vector in zip(texts, together, strict=True):
        assert np.abs(encoder.encode([text])[0] - vector).max() <= TOLERANCE, text


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=200), min_size=1, max_size=8))
def test_so_is_whatever_chance_brings(tiny_encoder: Encoder, texts: list[str]) -> None:
    together = tiny_encoder.encode(texts)
    assert np.isfinite(together).all()
    for text, vector in zip(texts, together, strict=True):
        assert np.abs(tiny_encoder.encode([text])[0] - vector).max() <= TOLERANCE


AGAIN = """
import sys
import numpy as np
from service.inference.encoder import Encoder
from tests.service.api.wild_texts import BROKEN, NAMED
np.save(sys.argv[2], Encoder(sys.argv[1]).encode([*NAMED.values(), *BROKEN.values()]))
"""


def test_it_is_the_same_after_a_restart(
    tiny_bundle: Path, tiny_encoder: Encoder, tmp_path: Path
) -> None:
    saved = tmp_path / "vectors.npy"
    subprocess.run(
        [sys.executable, "-c", AGAIN, str(tiny_bundle), str(saved)],
        check=True, cwd=Path(__file__).parents[3], env=os.environ | {"PYTHONHASHSEED": "1"},
    )  # fmt: skip
    before = tiny_encoder.encode(list(TEXTS.values()))
    np.testing.assert_array_equal(np.load(saved), before)


async def test_over_http_too(running: Running, tiny_encoder: Encoder) -> None:
    response = await running.client.post("/embed", json={"inputs": list(NAMED.values())})
    assert response.status_code == 200, response.text[:500]
    expected = tiny_encoder.encode(list(NAMED.values()))
    np.testing.assert_allclose(np.array(response.json()), expected, atol=TOLERANCE)


async def test_stored_and_found_as_it_was_sent(running: Running) -> None:
    documents = [
        {"id": name, "text": text}
        for name, text in NAMED.items()
        if text.strip() and len(text) < 300_000
    ]
    await running.client.put("/corpora/wild")
    stored = await running.client.post("/corpora/wild/documents", json={"documents": documents})
    assert stored.status_code == 200, stored.text[:500]
    for document in documents:
        found = await running.client.get(f"/corpora/wild/documents/{document['id']}")
        assert found.json()["text"] == document["text"], document["id"]


@pytest.mark.parametrize("name", BROKEN)
def test_what_utf8_cannot_carry_is_refused(name: str) -> None:
    escaped = "".join(f"\\u{ord(c):04x}" for c in BROKEN[name])
    with pytest.raises(MalformedError):
        parse_json(b'{"inputs": "' + escaped.encode() + b'"}')


@pytest.mark.skipif(not SHARED.is_dir(), reason="the data that models are trained on is not here")
def test_every_language_of_the_training_data(tiny_encoder: Encoder) -> None:
    texts = []
    for file in sorted(SHARED.glob("parallel/*/*.txt.gz")):
        with gzip.open(file, "rt", encoding="utf-8", errors="replace") as lines:
            texts += [next(lines, "").rstrip("\n") for _ in range(2)]
    assert len(texts) > 100
    together = tiny_encoder.encode(texts)
    assert np.isfinite(together).all()
    for text, vector in zip(texts, together, strict=True):
        assert np.abs(tiny_encoder.encode([text])[0] - vector).max() <= TOLERANCE
