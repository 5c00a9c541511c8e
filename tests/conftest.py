"""Fixtures that all tests may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.inference.encoder import Encoder
from tests.tiny_bundle import make_tiny_bundle


@pytest.fixture(scope="session")
def tiny_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_bundle(tmp_path_factory.mktemp("bundles") / "tiny")


@pytest.fixture(scope="session")
def tiny_encoder(tiny_bundle: Path) -> Encoder:
    return Encoder(tiny_bundle)
