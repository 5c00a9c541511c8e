"""Compressed graphs: smaller, and the same numbers as torch with the rounded weights."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto

from service.inference.session import EncoderSession
from training.encoders.bert import BertBody
from training.encoders.beside import Beside
from training.encoders.product_vectors import product_vectors
from training.encoders.settled import SettledLayers
from training.export import PARITY, Tower, check_parity
from training.graphs.compressed import compressed_graph, round_weights
from training.graphs.static import StoredTable, store
from training.graphs.traced import traced_graph
from training.rounding import keep_rounded, leave_rounded

VOCABULARY, BESIDE, WIDTH = 1200, 400, 128
TABLE = "encoder.table"


@pytest.fixture(scope="module")
def encoder() -> Beside:
    torch.manual_seed(0)
    body = BertBody(layers=2, width=WIDTH, heads=4, inner=512, longest=256)
    torch.nn.init.normal_(body.places)
    vectors = np.random.default_rng(0).standard_normal((VOCABULARY, WIDTH)).astype(np.float32)
    read = product_vectors(vectors, np.ones(VOCABULARY, dtype=np.int64), parts=32, seed=0)
    return Beside(SettledLayers(read, body), torch.randn(BESIDE - 1, WIDTH), weight=0.5).eval()


@pytest.fixture
def rounded(encoder: Beside, request: pytest.FixtureRequest) -> Beside:
    """The encoder with its weights rounded: the layers' to so many bits, the table's to 4."""
    made = copy.deepcopy(encoder)
    if request.param == 4:
        keep_rounded(made)
        leave_rounded(made)
    round_weights(made)
    made.table = torch.nn.Parameter(torch.from_numpy(stored_table(encoder).widened()))
    return made


def stored_table(encoder: Beside) -> StoredTable:
    return store(encoder.table.detach().numpy(), "int4")


def compressed(encoder: Beside, rounded: Beside) -> bytes:
    full = traced_graph(rounded, features=(2,))
    return compressed_graph(full, name=TABLE, table=stored_table(encoder))


BITS = pytest.mark.parametrize("rounded", [8, 4], indirect=True, ids=["8 bits", "4 bits"])


@pytest.mark.parametrize(
    ("rounded", "smaller"), [(8, 2.8), (4, 3.6)], indirect=["rounded"], ids=["8 bits", "4 bits"]
)
def test_it_computes_with_the_rounded_weights(
    encoder: Beside, rounded: Beside, smaller: float
) -> None:
    full = traced_graph(rounded, features=(2,))
    graph = compressed(encoder, rounded)
    tower = Tower(
        graph=graph,
        reference=rounded.rectangle,
        tokenizer=b"",
        tokenizer_kind="sentencepiece",
        vocabulary=VOCABULARY,
        ngrams=BESIDE,
    )
    assert check_parity(tower, WIDTH) < PARITY
    assert len(graph) < len(full) / smaller
    weights = onnx.load_from_string(graph).graph.initializer
    assert TABLE not in {weight.name for weight in weights}
    large = {w.data_type for w in weights if np.prod(w.dims) >= 1 << 15}
    assert large <= {TensorProto.INT8, TensorProto.UINT8}
    ids, mask = torch.randint(0, BESIDE, (3, 9, 2)), torch.ones(3, 9, dtype=torch.bool)
    with torch.inference_mode():
        before, after = encoder.rectangle(ids, mask), rounded.rectangle(ids, mask)
    assert 0.96 < float(torch.cosine_similarity(before, after).min()) < 0.99999


@BITS
def test_rounding_twice_is_rounding_once(encoder: Beside, rounded: Beside) -> None:
    twice = copy.deepcopy(rounded)
    round_weights(twice)
    weights = dict(twice.named_parameters())
    for name, weight in rounded.named_parameters():
        torch.testing.assert_close(weight, weights[name], rtol=1e-6, atol=1e-9)
    places = "encoder.body.places"
    assert not torch.equal(rounded.get_parameter(places), encoder.get_parameter(places))
    # Biases are small, and stay as they are.
    bias = "encoder.body.layers.0.up.bias"
    assert torch.equal(rounded.get_parameter(bias), encoder.get_parameter(bias))


@BITS
def test_another_runtime_reads_the_same_weights(
    encoder: Beside, rounded: Beside, tmp_path: Path
) -> None:
    session = pytest.importorskip(
        "service.openvino.session", reason="it comes with the extra `openvino`"
    )
    path = tmp_path / "encoder.onnx"
    path.write_bytes(compressed(encoder, rounded))
    ids = np.random.default_rng(0).integers(0, BESIDE, (3, 8, 2))
    inputs = {"ids": ids, "mask": np.ones((3, 8), dtype=np.int64)}
    here = session.OpenVinoSession(path, dimension=WIDTH, precision="fp32", streams=1).run(inputs)
    there = EncoderSession(path, dimension=WIDTH).run(inputs)
    np.testing.assert_allclose(here, there, atol=1e-4)


def test_openvino_has_plain_weights_once_it_has_read_the_graph(
    encoder: Beside, tmp_path: Path
) -> None:
    openvino = pytest.importorskip("openvino", reason="it comes with the extra `openvino`")
    from service.openvino.weights import fold_constants, store_weights

    settled = copy.deepcopy(encoder)
    keep_rounded(settled)
    leave_rounded(settled)
    path = tmp_path / "encoder.onnx"
    path.write_bytes(compressed(encoder, settled))
    model = openvino.Core().read_model(path)
    fold_constants(model)
    # Four products a layer, and the table of places; the other tables have their own codes.
    assert store_weights(model, "int8") >= 2 * 4
