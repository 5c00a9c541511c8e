from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from service.bundle.reader import read_bundle
from service.errors import BundleError
from service.huggingface.importing import Wishes, import_model
from service.inference.encoder import Encoder
from tests.service.huggingface.conftest import Arrays, set_pooling


def test_weights_without_a_graph_give_sentence_transformers_vectors(
    minilm_bundle: Path, golden: Arrays, texts: list[str]
) -> None:
    """The graph is made here, from safetensors alone."""
    vectors = Encoder(minilm_bundle).encode(texts)
    np.testing.assert_allclose(vectors, golden["whole"], atol=1e-4)


def test_a_text_alone_and_in_a_batch_are_the_same(minilm_bundle: Path, texts: list[str]) -> None:
    encoder = Encoder(minilm_bundle)
    together = encoder.encode(texts)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_allclose(encoder.encode(text), vector, atol=1e-6)


def test_the_bundle_is_whole(minilm_bundle: Path) -> None:
    manifest = read_bundle(minilm_bundle).manifest
    assert manifest.name == "all-minilm-l6-v2"
    assert manifest.precision == "fp32"
    card = (minilm_bundle / "CARD.md").read_text()
    assert "interlingua models import" in card
    assert "interlingua train" not in card


def test_eight_bits_cost_what_is_said(
    minilm: Path, minilm_bundle: Path, tmp_path: Path, golden: Arrays, texts: list[str]
) -> None:
    wishes = Wishes(name="all-minilm-l6-v2", precision="int8")
    imported = import_model(minilm, tmp_path / "small", wishes)
    loss = imported.loss
    assert loss is not None
    assert 0.999 < loss.mean < 1
    assert 0.995 < loss.least <= loss.mean
    manifest = imported.bundle.manifest
    assert manifest.precision == "int8"
    assert manifest.space == read_bundle(minilm_bundle).manifest.space
    assert manifest.files["encoder.onnx"].bytes < 26e6  # 90 MB in full
    encoder = Encoder(imported.bundle)
    vectors = encoder.encode(texts)
    cosines = (vectors * golden["whole"]).sum(axis=1)
    assert cosines.min() > 0.995
    for text, vector in zip(texts, vectors, strict=True):  # no scale is shared by a batch
        np.testing.assert_allclose(encoder.encode(text), vector, atol=1e-6)


def test_wishes_are_heard(exported: Path, tmp_path: Path) -> None:
    wishes = Wishes(
        name="mine", space="all-minilm-l6-v2", languages=("de", "en"), dimensions=(64, 128),
        prompts={"query": "search: "},
    )  # fmt: skip
    manifest = import_model(exported, tmp_path / "mine", wishes).bundle.manifest
    assert manifest.name == "mine"
    assert manifest.space == "all-minilm-l6-v2"
    assert manifest.languages == ("de", "en")
    assert manifest.matryoshka_dimensions == (128, 64)
    assert manifest.prompts == {"query": "search: "}


def test_a_wished_prompt_that_would_be_pooled_wrongly_is_refused(
    exported: Path, tmp_path: Path
) -> None:
    set_pooling(exported, {"pooling_mode": "mean", "include_prompt": False})
    with pytest.raises(BundleError, match="prompt's tokens"):
        import_model(exported, tmp_path / "made", Wishes(prompts={"query": "search: "}))


def test_nothing_is_written_of_a_model_that_cannot_run(exported: Path, tmp_path: Path) -> None:
    (exported / "onnx" / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(BundleError, match="cannot be loaded"):
        import_model(exported, tmp_path / "broken")
    assert not (tmp_path / "broken").exists()


def test_another_architecture_is_sent_to_its_exporter(minilm: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for path in minilm.iterdir():
        if path.name != "config.json":
            (source / path.name).symlink_to(path)
    (source / "config.json").write_text('{"model_type": "deberta-v2", "hidden_size": 384}')
    with pytest.raises(BundleError, match="optimum"):
        import_model(source, tmp_path / "made")
