from __future__ import annotations

from pathlib import Path

import pytest

from service.bundle.manifest import EncoderEntry
from service.bundle.reader import read_bundle
from service.bundle.writer import file_entries, write_bundle
from service.inference.encoder import Encoder
from tests.tiny_bundle import make_tiny_bundle


@pytest.fixture
def two_towers(tmp_path: Path, tiny_bundle: Path) -> Encoder:
    """One encoder a language, with other weights for German."""
    bundle = read_bundle(tiny_bundle)
    tokenizer = bundle.manifest.encoders["*"].tokenizer
    graph = (tiny_bundle / "encoder.onnx").read_bytes()
    other = make_tiny_bundle(tmp_path / "other", seed=99) / "encoder.onnx"
    files = {
        "en.onnx": graph,
        "de.onnx": other.read_bytes(),
        "tokenizer.model": (tiny_bundle / "tokenizer.model").read_bytes(),
    }
    manifest = bundle.manifest.model_copy(
        update={
            "encoders": {
                language: EncoderEntry(graph=f"{language}.onnx", tokenizer=tokenizer)
                for language in ("en", "de")
            },
            "files": file_entries(files),
        }
    )
    return Encoder(write_bundle(tmp_path / "towers", manifest, files))
