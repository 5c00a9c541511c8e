"""Fixtures that all tests may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from service.inference.encoder import Encoder
from tests.tiny_bundle import make_tiny_bundle

# Measuring the runtimes of each small model would take seconds, and its choice is the machine's.
os.environ.setdefault("INTERLINGUA_RUNTIME", "onnxruntime")


@pytest.fixture(scope="session")
def tiny_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_bundle(tmp_path_factory.mktemp("bundles") / "tiny")


@pytest.fixture(scope="session")
def tiny_encoder(tiny_bundle: Path) -> Encoder:
    return Encoder(tiny_bundle)
