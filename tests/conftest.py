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
def searching_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a prompt for each side of a search."""
    prompts = {"query": "question: ", "passage": "text: "}
    directory = tmp_path_factory.mktemp("bundles") / "searching"
    return make_tiny_bundle(directory, name="searching", prompts=prompts)


@pytest.fixture(scope="session")
def tiny_encoder(tiny_bundle: Path) -> Encoder:
    return Encoder(tiny_bundle)
