"""Directories of other tools, served as they lie, against sentence-transformers' own vectors."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from pydantic import ValidationError
from safetensors.numpy import load_file, save_file

from service.errors import BundleError, InputError
from service.huggingface.bundle import read_model
from service.huggingface.importing import import_model
from service.inference.encoder import Encoder
from tests.service.huggingface.conftest import Arrays, add_dense, set_pooling

TOLERANCE = 1e-4


def test_an_exported_directory_gives_sentence_transformers_vectors(
    exported: Path, golden: Arrays, texts: list[str]
) -> None:
    encoder = Encoder(exported)
    np.testing.assert_allclose(encoder.encode(texts), golden["whole"], atol=TOLERANCE)
    assert encoder.manifest.max_tokens == 256  # sentence_bert_config.json wins over the tokenizer's
    assert encoder.manifest.languages == ("en",)
    assert encoder.manifest.licence == "apache-2.0"


@pytest.mark.parametrize(
    ("ours", "config"),
    [
        ("mean", {"pooling_mode_mean_tokens": True}),
        ("cls", {"pooling_mode_cls_token": True}),
        ("max", {"pooling_mode_max_tokens": True}),
        ("last", {"pooling_mode_lasttoken": True}),
        ("last", {"pooling_mode": "lasttoken"}),  # as newer releases write it
    ],
)
def test_each_pooling(
    exported: Path, golden: Arrays, texts: list[str], ours: str, config: dict[str, object]
) -> None:
    set_pooling(exported, config)
    encoder = Encoder(exported)
    assert not encoder.manifest.normalised
    np.testing.assert_allclose(encoder.encode(texts), golden[ours], atol=TOLERANCE, rtol=1e-4)


def test_a_dense_layer_follows_the_pooling(
    exported: Path, golden: Arrays, texts: list[str]
) -> None:
    set_pooling(exported, {"pooling_mode_cls_token": True})
    add_dense(exported, golden, activation="Tanh")
    encoder = Encoder(exported)
    assert encoder.dimension == len(golden["dense_bias"])
    np.testing.assert_allclose(encoder.encode(texts), golden["dense"], atol=TOLERANCE)


def test_a_directory_of_transformers_alone_is_pooled_by_the_mean(
    exported: Path, golden: Arrays, texts: list[str]
) -> None:
    for name in ("modules.json", "sentence_bert_config.json"):
        (exported / name).unlink()
    (exported / "tokenizer_config.json").chmod(0o644)
    (exported / "tokenizer_config.json").write_text('{"model_max_length": 256}')
    vectors = Encoder(exported).encode(texts)
    np.testing.assert_allclose(vectors, golden["mean"], atol=TOLERANCE, rtol=1e-4)


def add_sentence_vectors(graph: Path) -> None:
    """Have `graph` give the first token's vector too, as exports of whole models pool by it."""
    model = onnx.load(graph)
    model.graph.initializer.append(
        onnx.numpy_helper.from_array(np.array(0, dtype=np.int64), "first")
    )
    model.graph.node.append(
        onnx.helper.make_node(
            "Gather", ["last_hidden_state", "first"], ["sentence_embedding"], axis=1
        )
    )
    model.graph.output.append(
        onnx.helper.make_tensor_value_info(
            "sentence_embedding", onnx.TensorProto.FLOAT, ["batch", 384]
        )
    )
    onnx.save(model, graph)


def test_a_whole_model_in_one_graph_pools_as_it_was_trained_to(
    exported: Path, golden: Arrays, texts: list[str], tmp_path: Path
) -> None:
    add_sentence_vectors(exported / "onnx" / "model.onnx")
    # Where the directory says how to pool, that is done.
    np.testing.assert_allclose(Encoder(exported).encode(texts), golden["whole"], atol=TOLERANCE)
    for name in ("modules.json", "sentence_bert_config.json"):
        (exported / name).unlink()
    (exported / "tokenizer_config.json").chmod(0o644)
    (exported / "tokenizer_config.json").write_text('{"model_max_length": 256}')
    encoder = Encoder(exported)
    np.testing.assert_allclose(encoder.encode(texts), golden["cls"], atol=TOLERANCE, rtol=1e-4)
    assert encoder.manifest.pooling == "graph"
    bundle = import_model(exported, tmp_path / "imported").bundle
    np.testing.assert_allclose(
        Encoder(bundle).encode(texts), golden["cls"], atol=TOLERANCE, rtol=1e-4
    )


def test_prompts_are_put_before_texts(exported: Path) -> None:
    path = exported / "config_sentence_transformers.json"
    path.chmod(0o644)
    config = {"prompts": {"query": "query: ", "passage": ""}, "default_prompt_name": "query"}
    path.write_text(json.dumps(config))
    encoder = Encoder(exported)
    assert encoder.manifest.default_prompt == "query"
    assert encoder.prompt_prefix(None) == "query: "
    assert encoder.prompt_prefix("passage") == ""


def test_weights_without_a_graph_name_the_way_out(minilm: Path) -> None:
    with pytest.raises(BundleError, match="interlingua models import"):
        Encoder(minilm)


def test_an_empty_directory_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"has no bundle\.json"):
        Encoder(tmp_path)


def test_the_same_files_make_the_same_space(exported: Path) -> None:
    one, two = Encoder(exported), Encoder(exported)
    assert one.manifest.space == two.manifest.space
    assert one.manifest.space.startswith("exported-")


def space(directory: Path) -> str:
    return read_model(directory).manifest.space


def test_the_space_of_a_graph_alone_is_named_by_its_hash(exported: Path) -> None:
    graph = (exported / "onnx" / "model.onnx").read_bytes()
    assert space(exported) == f"exported-{hashlib.sha256(graph).hexdigest()[:12]}"
    tokenizer = exported / "tokenizer.json"
    tokenizer.chmod(0o644)
    tokenizer.write_text(tokenizer.read_text() + "\n")
    assert space(exported) == f"exported-{hashlib.sha256(graph).hexdigest()[:12]}"


def test_other_weights_beside_the_graph_are_another_space(exported: Path) -> None:
    graph = exported / "onnx" / "model.onnx"
    model = onnx.load(graph)
    onnx.save(model, graph, save_as_external_data=True, location="model.onnx_data")
    before, of_graph = space(exported), graph.read_bytes()
    weights = graph.with_name("model.onnx_data")
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert graph.read_bytes() == of_graph
    assert space(exported) != before


@pytest.mark.parametrize("location", ["model.onnx.data", "model.onnx_data_1", "weights.bin"])
def test_weights_beside_the_graph_come_along_whatever_they_are_called(
    exported: Path, tmp_path: Path, texts: list[str], golden: Arrays, location: str
) -> None:
    graph = exported / "onnx" / "model.onnx"
    onnx.save(onnx.load(graph), graph, save_as_external_data=True, location=location)
    (graph.parent / "model.onnx_data_2").touch()  # of another graph
    bundle = import_model(exported, tmp_path / "imported").bundle
    assert set(bundle.manifest.files) == {"encoder.onnx", "tokenizer.json", location}
    np.testing.assert_allclose(
        Encoder(tmp_path / "imported").encode(texts), golden["whole"], atol=TOLERANCE
    )


def test_another_dense_layer_is_another_space(exported: Path, golden: Arrays) -> None:
    set_pooling(exported, {"pooling_mode_cls_token": True})
    alone = space(exported)
    add_dense(exported, golden, activation="Tanh")
    with_layer = space(exported)
    weights = exported / "2_Dense" / "model.safetensors"
    save_file({name: 2 * values for name, values in load_file(weights).items()}, weights)
    assert len({alone, with_layer, space(exported)}) == 3


def test_a_prompt_that_would_be_pooled_wrongly_is_refused(exported: Path) -> None:
    set_pooling(exported, {"pooling_mode": "mean", "include_prompt": False})
    encoder = Encoder(exported)
    np.testing.assert_array_equal(encoder.encode("bread"), encoder.encode("bread", prefix=""))
    with pytest.raises(InputError, match="include_prompt: false"):
        encoder.encode("bread", prefix="query: ")
    prompts = {"prompts": {"query": "query: "}}
    with pytest.raises(ValidationError, match="include_prompt"):
        type(encoder.manifest).model_validate(encoder.manifest.model_dump() | prompts)
