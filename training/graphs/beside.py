"""The ONNX graph of layers with static vectors beside them, as `interlingua-mini` is stored."""

from __future__ import annotations

import torch
from torch import nn

from training.encoders.beside import Beside
from training.graphs.compressed import compressed_graph, round_weights
from training.graphs.static import Precision, store
from training.graphs.traced import traced_graph


def beside_graph(served: Beside, precision: Precision) -> bytes:
    """Return the graph of `served`, whose weights are rounded to what the graph stores of them."""
    if precision == "fp32":
        return traced_graph(served, features=(2,))
    table = store(served.table.detach().numpy(), precision)
    round_weights(served)
    served.table = nn.Parameter(torch.from_numpy(table.widened()))
    graph = traced_graph(served, features=(2,))
    return compressed_graph(graph, name="encoder.table", table=table)
