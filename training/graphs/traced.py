"""The ONNX graph of an encoder without recurrent layers, found by tracing it.

Right for attention written out with products and a softmax, whose shapes stay symbolic. Recurrent
layers are written node by node (`training.graphs.recurrent`): traced, they run over the pads.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from training.encoders.settled import SettledLayers
from training.encoders.states import SentenceEncoder

Traceable = SentenceEncoder | SettledLayers

_OPSET = 18


class _Served(nn.Module):
    """An encoder as it is served: the mask comes as numbers."""

    def __init__(self, encoder: Traceable) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.encoder.rectangle(ids, mask.bool()).float()


def traced_graph(encoder: Traceable, *, features: Sequence[int] = ()) -> bytes:
    """Return the graph: ids, mask int64 [batch, tokens] -> vectors float32 [batch, D].

    Args:
        encoder: On the CPU; left in evaluation mode.
        features: Sizes of further axes of the ids, [batch, tokens, *features], where the encoder's
            embedding takes more than one id a token; for tracing only, they are free in the graph.
    """
    ids = torch.zeros(2, 3, *features, dtype=torch.int64)
    mask = torch.tensor([[1, 1, 1], [1, 0, 0]])
    axes = {0: "batch", 1: "tokens"}
    more = {2 + place: f"features_{place}" for place in range(len(features))}
    file = io.BytesIO()
    with warnings.catch_warnings():
        # The tracing exporter is deprecated; its successor takes a hundred times as long for the
        # same graph, and every graph is compared with torch before it is written anywhere.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _Served(encoder).eval(),
            (ids, mask),
            file,
            input_names=["ids", "mask"],
            output_names=["vectors"],
            dynamic_axes={"ids": axes | more, "mask": axes, "vectors": {0: "batch"}},
            opset_version=_OPSET,
            dynamo=False,
        )
    return file.getvalue()
