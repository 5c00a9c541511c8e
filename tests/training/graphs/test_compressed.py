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
from training.encoders.contextual import ContextualEncoder
from training.encoders.token_network import TokenNetwork
from training.export import PARITY, Tower, check_parity
from training.graphs.compressed import compressed_graph, round_weights
from training.graphs.static import Precision, store
from training.graphs.traced import traced_graph

VOCABULARY, WIDTH = 600, 128


@pytest.fixture(scope="module")
def encoder() -> ContextualEncoder:
    torch.manual_seed(0)
    body = BertBody(layers=2, width=WIDTH, heads=4, inner=512, longest=256)
    torch.nn.init.normal_(body.places)
    network = TokenNetwork(WIDTH, 300)
    return ContextualEncoder(torch.randn(VOCABULARY, WIDTH), network, body).eval()


@pytest.mark.parametrize(("precision", "smaller"), [("int8", 3.2), ("int4", 4.2)])
def test_it_computes_with_the_rounded_weights(
    encoder: ContextualEncoder, precision: Precision, smaller: float
) -> None:
    rounded = copy.deepcopy(encoder)
    table = store(rounded.table.detach().numpy(), "int4")
    round_weights(rounded, precision)
    rounded.table = torch.nn.Parameter(torch.from_numpy(table.widened()))
    full = traced_graph(rounded)
    graph = compressed_graph(full, tables={"encoder.table": table}, precision=precision)
    tower = Tower(
        graph=graph,
        reference=rounded.rectangle,
        tokenizer=b"",
        tokenizer_kind="sentencepiece",
        vocabulary=VOCABULARY,
    )
    assert check_parity(tower, WIDTH) < PARITY
    assert len(graph) < len(full) / smaller
    large = [
        w for w in onnx.load_from_string(graph).graph.initializer if np.prod(w.dims) >= 1 << 15
    ]
    assert {w.data_type for w in large} <= {TensorProto.INT8, TensorProto.UINT8}
    ids, mask = torch.randint(0, VOCABULARY, (3, 9)), torch.ones(3, 9, dtype=torch.bool)
    with torch.inference_mode():
        before, after = encoder.rectangle(ids, mask), rounded.rectangle(ids, mask)
    assert 0.96 < float(torch.cosine_similarity(before, after).min()) < 0.99999


@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_rounding_twice_is_rounding_once(encoder: ContextualEncoder, precision: Precision) -> None:
    once = copy.deepcopy(encoder)
    round_weights(once, precision)
    twice = copy.deepcopy(once)
    round_weights(twice, precision)
    weights = dict(twice.named_parameters())
    for name, weight in once.named_parameters():
        torch.testing.assert_close(weight, weights[name], rtol=1e-6, atol=1e-9)
    assert not torch.equal(once.body.places, encoder.body.places)
    # Biases are small, and stay as they are.
    assert torch.equal(once.network.up.bias, encoder.network.up.bias)


def test_a_second_table_stands_beside_the_first(encoder: ContextualEncoder) -> None:
    torch.manual_seed(1)
    served = Beside(copy.deepcopy(encoder), torch.randn(400, WIDTH), weight=0.5).eval()
    tables = {
        f"encoder.{name}": store(served.get_parameter(name).detach().numpy(), "int4")
        for name in ("table", "encoder.table")
    }
    round_weights(served, "int4")
    for name, table in tables.items():
        weight = served.get_parameter(name.removeprefix("encoder."))
        weight.data = torch.from_numpy(table.widened())
    graph = compressed_graph(traced_graph(served, features=(2,)), tables=tables, precision="int4")
    tower = Tower(
        graph=graph,
        reference=served.rectangle,
        tokenizer=b"",
        tokenizer_kind="sentencepiece",
        vocabulary=VOCABULARY,
        ngrams=401,
    )
    assert check_parity(tower, WIDTH) < PARITY
    kept = {weight.name for weight in onnx.load_from_string(graph).graph.initializer}
    assert not kept & set(tables)


@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_another_runtime_reads_the_same_weights(
    encoder: ContextualEncoder, tmp_path: Path, precision: Precision
) -> None:
    session = pytest.importorskip(
        "service.openvino.session", reason="it comes with the extra `openvino`"
    )
    table = store(encoder.table.detach().numpy(), "int4")
    full = traced_graph(encoder)
    tables = {"encoder.table": table}
    path = tmp_path / "encoder.onnx"
    path.write_bytes(compressed_graph(full, tables=tables, precision=precision))
    ids = np.random.default_rng(0).integers(0, VOCABULARY, (3, 8))
    inputs = {"ids": ids, "mask": np.ones_like(ids)}
    here = session.OpenVinoSession(path, dimension=WIDTH, precision="fp32", streams=1).run(inputs)
    there = EncoderSession(path, dimension=WIDTH).run(inputs)
    np.testing.assert_allclose(here, there, atol=1e-4)


def test_what_stands_beside_is_added_up(encoder: ContextualEncoder) -> None:
    table = torch.randn(10, WIDTH)
    served = Beside(encoder, table, weight=0.5).eval()
    ids = torch.tensor([[[3, 1, 4], [5, 2, 0]], [[7, 0, 0], [0, 0, 0]]])
    mask = torch.tensor([[True, True], [True, False]])
    with torch.inference_mode():
        own = torch.nn.functional.normalize(encoder.rectangle(ids[:, :, 0], mask), dim=1)
        found = served.rectangle(ids, mask) - own
    expected = table[0] + table[3] + table[1]
    torch.testing.assert_close(found[0], 0.5 * expected / expected.norm(), atol=1e-5, rtol=0)
    assert not found[1].any()
