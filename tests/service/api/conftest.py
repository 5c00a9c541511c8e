from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import numpy as np
import pytest

from service.classification.head import FittedOn, HeadManifest, write_head
from service.inference.encoder import Encoder
from service.settings import Settings
from tests.service.api.running import Gate, Running, run_app, tiny_settings

LABELS = ("animals", "food", "rivers")


@pytest.fixture(scope="session")
def tiny_head(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Encoder) -> Path:
    """A classifier whose classes are three sentences: the nearest of them wins."""
    sentences = [
        "The cat sleeps on the warm windowsill.",
        "Fresh bread smells best in the early morning.",
        "Rivers carry sand and stones down to the sea.",
    ]
    directory = tmp_path_factory.mktemp("heads") / "subjects"
    manifest = HeadManifest(
        name="subjects",
        labels=LABELS,
        space=tiny_encoder.manifest.space,
        encoder=FittedOn(name="tiny", identity=tiny_encoder.manifest.identity),
        dimension=tiny_encoder.dimension,
        licence="Apache-2.0",
    )
    weights = 8 * tiny_encoder.encode(sentences)
    write_head(directory, manifest, weights=weights, bias=np.zeros(3, dtype=np.float32))
    return directory


@pytest.fixture
def settings(tiny_bundle: Path, tiny_head: Path, tmp_path: Path) -> Settings:
    return tiny_settings(tiny_bundle, tmp_path / "data", head=[tiny_head])


@pytest.fixture
async def running(settings: Settings) -> AsyncIterator[Running]:
    async with run_app(settings) as started:
        yield started


@pytest.fixture
def gate(running: Running, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """The model of `running`, held back until the test opens it."""
    session = running.state.resources.default_encoder.towers["*"].session
    closed = Gate(session)
    monkeypatch.setattr(session, "run", closed)
    yield closed
    closed.opened.set()
