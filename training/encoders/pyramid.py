"""T-MDE_P's sentence vector: learned rows ask the upper layers, and are fewer at each.

Li 2021, section 4.2.2. With six layers and one more (7 encoder layers in table 4.1):

    Z^4 = layer_4(Z, H^4)          32 rows    (4.8-4.9)
    Z^5 = layer_5(Z^4[:16], Z^4)   16 rows    (4.10-4.11)
    Z^6 = layer_6(Z^5[:8], Z^5)     8 rows    (4.12-4.13)
    D_c = concat(H^6[0] .. H^1[0], Z^6)       (4.14-4.15)
    P   = layer_6(H^6[0], D_c)                (4.16-4.17)

where layer_k makes H^{k+1} of H^k (4.4-4.5), so the rows share the weights of the layers.

Departure: as printed, 4.10 and 4.12 go on from Z_x, the rows before the feed-forward, and all three
feed-forwards are FFN^4. Z_y^4 and Z_y^5 would then be made for nothing, and the rows would not
share their layers' weights, as the text says. Here each layer's own feed-forward is used and its
output goes on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from training.attention import key_bias
from training.encoders.states import States
from training.encoders.transformer import TransformerEncoder, TransformerLayer


class PyramidEncoder(nn.Module):
    """A transformer whose first state is P, drawn from all of its layers.

    Args:
        transformer: With a first token and at least two layers.
        top: The layer above, which makes Z^6 and P.
        rows: Of Z: 32 in the thesis; half of them go on, then a quarter.

    Raises:
        ValueError: The transformer has no first token, or the rows cannot be halved twice.
    """

    def __init__(
        self, transformer: TransformerEncoder, top: TransformerLayer, *, rows: int = 32
    ) -> None:
        super().__init__()
        if transformer.first is None or len(transformer.layers) < 2:
            raise ValueError("the pyramid needs a first token and two layers or more")
        if rows % 4 or rows < 4:
            raise ValueError(f"{rows} rows cannot be halved twice")
        self.transformer = transformer
        self.top = top
        width = transformer.width
        self.rows = nn.Parameter(torch.randn(rows, width) / math.sqrt(width))

    def forward(self, ids: Tensor, mask: Tensor) -> States:
        """Return states [B, 1 + S, D]: P first, then the tokens'.

        Args:
            ids: int64 [B, S, ...], as the transformer's embedding takes them.
            mask: bool [B, S].
        """
        rows, mask = self.transformer.embedded(ids, mask)
        outputs = self.transformer.outputs(rows, mask)  # H^0 .. H^6
        gathered = self.pyramid(outputs, mask)[-1]
        firsts = [output[:, :1] for output in reversed(outputs[1:])]  # H^6[0] .. H^1[0]
        seen = torch.cat([*firsts, gathered], 1)  # D_c [B, 6 + 8, D]
        vector = self.top(outputs[-1][:, :1], seen)  # P [B, 1, D]
        return States(self.transformer.norm(torch.cat([vector, outputs[-1][:, 1:]], 1)), mask)

    def pyramid(self, outputs: Sequence[Tensor], mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return Z^4 [B, 32, D], Z^5 [B, 16, D] and Z^6 [B, 8, D].

        Args:
            outputs: H^0 .. H^6, each [B, 1 + S, D].
            mask: bool [B, 1 + S].
        """
        layers = self.transformer.layers
        size = self.rows.shape[0]
        asking = self.rows.expand(mask.shape[0], -1, -1)
        first = layers[-2](asking, outputs[-3], key_bias(mask))
        second = layers[-1](first[:, : size // 2], first)
        third = self.top(second[:, : size // 4], second)
        return first, second, third
