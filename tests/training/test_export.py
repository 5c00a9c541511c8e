"""Export: parity, the bundle, its figures."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from torch import Tensor

from service.bundle.manifest import DataSource, Measurement, Recipe
from service.bundle.reader import read_bundle
from service.errors import BundleError
from service.inference.encoder import Encoder
from training.data.batches import Sentences
from training.encoders.static import StaticEncoder
from training.export import PARITY, Model, Tower, check_parity, export, open_bundle, record_quality
from training.graphs.static import static_graph, store

RECIPE = Recipe(name="made", scale="smoke")


@pytest.fixture
def tower(tiny_bundle: Path) -> Tower:
    tokenizer = read_bundle(tiny_bundle).directory / "tokenizer.model"
    stored = store(np.random.default_rng(0).standard_normal((480, 64)).astype(np.float32), "int8")
    encoder = StaticEncoder(torch.from_numpy(stored.widened()))

    def reference(ids: Tensor, mask: Tensor) -> Tensor:
        vectors: Tensor = encoder(Sentences.from_padded(ids, mask))
        return vectors

    return Tower(
        graph=static_graph(stored),
        reference=reference,
        tokenizer=tokenizer.read_bytes(),
        tokenizer_kind="sentencepiece",
        vocabulary=480,
    )


def _model(**towers: Tower) -> Model:
    return Model(
        towers={name.replace("shared", "*"): tower for name, tower in towers.items()},
        name="made",
        family="static",
        description="Made in a test.",
        space="made-space",
        dimension=64,
        cuts=(32,),
        languages=("en", "de"),
        max_tokens=32,
        pooling="mean",
        precision="int8",
        data=(DataSource(name="a", licence="CC0", attribution="nobody", sentence_pairs=3),),
    )


def test_torch_and_the_graph_agree(tower: Tower) -> None:
    assert check_parity(tower, 64) < PARITY / 10


def test_a_graph_that_counts_pads_is_refused(tower: Tower) -> None:
    def with_pads(ids: Tensor, mask: Tensor) -> Tensor:
        return tower.reference(ids, torch.ones_like(mask))

    with pytest.raises(BundleError, match="differs from torch"):
        check_parity(dataclasses.replace(tower, reference=with_pads), 64)


def test_a_graph_with_a_fixed_length_is_refused(tower: Tower) -> None:
    graph = onnx.load_from_string(tower.graph)
    for node in graph.graph.input:
        node.type.tensor_type.shape.dim[1].dim_value = 17
    fixed = dataclasses.replace(tower, graph=graph.SerializeToString())
    with pytest.raises(BundleError, match="must be dynamic"):
        check_parity(fixed, 64)


def test_the_bundle_is_served(tower: Tower, tmp_path: Path) -> None:
    bundle = export(_model(shared=tower), tmp_path / "made", RECIPE)
    encoder = Encoder(bundle)
    vectors = encoder.encode(["The cat sleeps.", "", "Brot"], normalize=False)
    assert vectors.shape == (3, 64)
    assert not vectors[1].any()
    assert "| a | 3 | CC0 | nobody |" in (tmp_path / "made/CARD.md").read_text()


def test_an_encoder_a_language_is_written_once_each(tower: Tower, tmp_path: Path) -> None:
    other = dataclasses.replace(tower)
    bundle = export(_model(en=tower, de=other), tmp_path / "made", RECIPE)
    graphs = {code: entry.graph for code, entry in bundle.manifest.encoders.items()}
    assert graphs == {"en": "encoder-en.onnx", "de": "encoder-de.onnx"}
    same = export(_model(en=tower, de=tower), tmp_path / "same", RECIPE)
    assert len({entry.graph for entry in same.manifest.encoders.values()}) == 1


def test_figures_replace_those_of_the_same_data(tower: Tower, tmp_path: Path) -> None:
    bundle = export(_model(shared=tower), tmp_path / "made", RECIPE)
    first = Measurement(
        protocol="sts", dataset="x", metric="m", value=1.0, command="c", machine="m"
    )
    other = first.model_copy(update={"dataset": "y"})
    bundle = record_quality(bundle, (first, other))
    bundle = record_quality(bundle, (first.model_copy(update={"value": 2.0}),))
    assert [(row.dataset, row.value) for row in bundle.manifest.quality] == [("y", 1.0), ("x", 2.0)]
    assert "| sts | x | m | 2.0 |" in (tmp_path / "made/CARD.md").read_text()


def test_a_run_is_opened_by_its_bundle(tower: Tower, tmp_path: Path) -> None:
    export(_model(shared=tower), tmp_path / "run/bundle", RECIPE)
    assert open_bundle(tmp_path / "run").directory == tmp_path / "run/bundle"
    assert open_bundle(tmp_path / "run/bundle").directory == tmp_path / "run/bundle"
