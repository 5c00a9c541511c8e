"""Compressed graphs: smaller, and the same numbers as torch with the rounded weights."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto

from service.inference.onnx_session import EncoderSession
from training.encoders.bert import BertBody
from training.encoders.product_vectors import product_vectors
from training.encoders.settled import SettledLayers
from training.export import PARITY, Tower, check_parity
from training.graphs.compressed import compressed_graph, round_weights
from training.graphs.traced import traced_graph
from training.rounding import keep_rounded, leave_rounded

VOCABULARY, WIDTH = 1200, 128


@pytest.fixture(scope="module")
def encoder() -> SettledLayers:
    torch.manual_seed(0)
    body = BertBody(layers=2, width=WIDTH, heads=4, inner=512, longest=256)
    torch.nn.init.normal_(body.places)
    vectors = np.random.default_rng(0).standard_normal((VOCABULARY, WIDTH)).astype(np.float32)
    read = product_vectors(vectors, np.ones(VOCABULARY, dtype=np.int64), parts=32, seed=0)
    return SettledLayers(read, body, torch.randn(2, WIDTH)).eval()


@pytest.fixture
def rounded(encoder: SettledLayers, request: pytest.FixtureRequest) -> SettledLayers:
    """The encoder with its weights rounded, the layers' to so many bits."""
    made = copy.deepcopy(encoder)
    if request.param == 4:
        keep_rounded(made.body)
        leave_rounded(made.body)
    round_weights(made)
    return made


def compressed(rounded: SettledLayers) -> bytes:
    return compressed_graph(traced_graph(rounded))


BITS = pytest.mark.parametrize("rounded", [8, 4], indirect=True, ids=["8 bits", "4 bits"])


@pytest.mark.parametrize(
    ("rounded", "smaller"), [(8, 2.4), (4, 3.4)], indirect=["rounded"], ids=["8 bits", "4 bits"]
)
def test_it_computes_with_the_rounded_weights(
    encoder: SettledLayers, rounded: SettledLayers, smaller: float
) -> None:
    full = traced_graph(rounded)
    graph = compressed(rounded)
    tower = Tower(
        graph=graph,
        reference=rounded.rectangle,
        tokenizer=b"",
        tokenizer_kind="sentencepiece",
        vocabulary=VOCABULARY,
    )
    assert check_parity(tower, WIDTH) < PARITY
    assert len(graph) < len(full) / smaller
    weights = onnx.load_from_string(graph).graph.initializer
    large = {w.data_type for w in weights if np.prod(w.dims) >= 1 << 15}
    assert large <= {TensorProto.INT4, TensorProto.INT8, TensorProto.UINT8}
    ids, mask = torch.randint(0, VOCABULARY, (3, 9)), torch.ones(3, 9, dtype=torch.bool)
    with torch.inference_mode():
        before, after = encoder.rectangle(ids, mask), rounded.rectangle(ids, mask)
    assert 0.96 < float(torch.cosine_similarity(before, after).min()) < 0.99999


@BITS
def test_rounding_twice_is_rounding_once(encoder: SettledLayers, rounded: SettledLayers) -> None:
    twice = copy.deepcopy(rounded)
    round_weights(twice)
    weights = dict(twice.named_parameters())
    for name, weight in rounded.named_parameters():
        torch.testing.assert_close(weight, weights[name], rtol=1e-6, atol=1e-9)
    places = "body.places"
    assert not torch.equal(rounded.get_parameter(places), encoder.get_parameter(places))
    # Biases are small, and stay as they are.
    bias = "body.layers.0.up.bias"
    assert torch.equal(rounded.get_parameter(bias), encoder.get_parameter(bias))


@BITS
def test_another_runtime_reads_the_same_weights(rounded: SettledLayers, tmp_path: Path) -> None:
    session = pytest.importorskip(
        "service.openvino.session", reason="it comes with the extra `openvino`"
    )
    path = tmp_path / "encoder.onnx"
    path.write_bytes(compressed(rounded))
    ids = np.random.default_rng(0).integers(0, VOCABULARY, (3, 8))
    inputs = {"ids": ids, "mask": np.ones((3, 8), dtype=np.int64)}
    here = session.OpenVinoSession(path, dimension=WIDTH, precision="fp32", streams=1).run(inputs)
    there = EncoderSession(path, dimension=WIDTH).run(inputs)
    np.testing.assert_allclose(here, there, atol=1e-4)


@pytest.mark.parametrize("rounded", [4], indirect=True)
def test_a_weight_in_four_bits_is_one_operator_before_its_product(rounded: SettledLayers) -> None:
    # So ONNX Runtime finds it, and multiplies by 4 bits without a copy in full.
    graph = onnx.load_from_string(compressed(rounded)).graph
    widened = {n.output[0] for n in graph.node if n.op_type == "DequantizeLinear"}
    multiplied = {n.input[1] for n in graph.node if n.op_type == "MatMul"}
    assert len(widened) == 2 * 3  # two layers; what leaves the attention is small, and stays
    assert widened <= multiplied


def test_openvino_has_plain_weights_once_it_has_read_the_graph(
    encoder: SettledLayers, tmp_path: Path
) -> None:
    openvino = pytest.importorskip("openvino", reason="it comes with the extra `openvino`")
    from service.openvino.weights import fold_constants, store_weights

    settled = copy.deepcopy(encoder)
    keep_rounded(settled.body)
    leave_rounded(settled.body)
    path = tmp_path / "encoder.onnx"
    path.write_bytes(compressed(settled))
    model = openvino.Core().read_model(path)
    fold_constants(model)
    # Four products a layer, and the table of places; the other tables have their own codes.
    assert store_weights(model, "int8") >= 2 * 4
