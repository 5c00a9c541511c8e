r"""Multi-head attention, written out: two products and a softmax.

Vaswani et al. 2017, eq. 1 and section 3.2.2; Li 2021, eq. 4.1-4.2:

    U_i  = softmax(Q W_i^Q (K W_i^K)^T / sqrt(d)) V W_i^V
    F_MH = concat(U_1 .. U_r) W^O

- d is the width of one head. Departure: Li 2021 writes d_h, the width of the whole layer, under
  the root; the cited original and the implementation the thesis used divide by that of a head.
- At sentence length the fused kernel's backward costs a CPU a third of a step, so it is not used.
"""

from __future__ import annotations

import math

from torch import Tensor, nn

_BLOCKED = -1e9
"""Added to the score of what must not be seen; its softmax is 0 exactly in float32."""


def key_bias(mask: Tensor) -> Tensor:
    """Return what hides the pads: float32 [B, 1, 1, S], 0 where mask bool [B, S], else -1e9.

    A row without any key stays finite: its softmax is uniform.
    """
    return (1.0 - mask.float())[:, None, None] * _BLOCKED


def causal_bias(width: int, like: Tensor) -> Tensor:
    """Return what hides the future: float32 [1, 1, T, T] on the device of `like`."""
    return like.new_full((width, width), _BLOCKED).triu(1)[None, None].float()


class MultiHeadAttention(nn.Module):
    """Attention of some queries to some keys, which are the values too.

    Args:
        width: D of queries and results.
        heads: r; must divide `width`.
        dropout: Of the attention weights.
        key_width: Of the keys; D where None.

    Raises:
        ValueError: `heads` does not divide `width`.
    """

    def __init__(
        self, width: int, heads: int, *, dropout: float = 0.0, key_width: int | None = None
    ) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"{heads} heads do not divide a width of {width}")
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(key_width or width, width)
        self.value = nn.Linear(key_width or width, width)
        self.result = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        for part in (self.query, self.key, self.value):
            # fairseq's start, which Li 2021 (4.3.1) took: the three as one matrix [3D, D].
            nn.init.xavier_uniform_(part.weight, gain=1 / math.sqrt(2))
            nn.init.zeros_(part.bias)
        nn.init.xavier_uniform_(self.result.weight)
        nn.init.zeros_(self.result.bias)

    def forward(self, queries: Tensor, keys: Tensor, bias: Tensor | None = None) -> Tensor:
        """Return [B, Q, D].

        Args:
            queries: [B, Q, D].
            keys: [B, S, D], or [B, S, `key_width`].
            bias: Added to the scores [B, heads, Q, S]; broadcast. None hides nothing.
        """
        query, key, value = (
            self._split(part(rows))
            for part, rows in ((self.query, queries), (self.key, keys), (self.value, keys))
        )
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])  # [B, H, Q, S]
        if bias is not None:
            scores = scores + bias
        weights = self.dropout(scores.softmax(-1).type_as(value))
        joined = (weights @ value).transpose(1, 2).flatten(2)  # [B, Q, D]
        mixed: Tensor = self.result(joined)
        return mixed

    def _split(self, rows: Tensor) -> Tensor:
        """Return [B, S, D] as [B, H, S, D / H]."""
        head = rows.shape[2] // self.heads
        return rows.reshape(rows.shape[0], rows.shape[1], self.heads, head).transpose(1, 2)
