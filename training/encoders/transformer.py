"""The transformer encoder.

Vaswani et al. 2017, section 3, with the choices of Li 2021 (4.3.1: the big model of that paper,
layer norm before each block) and of Chidambaram et al. 2018 (2.1: 3 layers, 512 wide, 8 heads, a
filter of 2048) as arguments.

- Layers and embedding are passed in, so that other models may share or replace them.
- Positions are computed, not stored: no limit on the length, and none in an exported graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.attention import MultiHeadAttention, key_bias
from training.encoders.states import States


class TokenEmbedding(nn.Module):
    """Vectors of ids, times sqrt(D) (Vaswani et al. 2017, 3.4).

    Args:
        vocabulary: V.
        width: D.
    """

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(vocabulary, width) / math.sqrt(width))

    def forward(self, ids: Tensor) -> Tensor:
        """Return [B, S, D] of ids int64 [B, S]."""
        return functional.embedding(ids, self.table) * math.sqrt(self.table.shape[1])


def positions(width: int, length: int, like: Tensor) -> Tensor:
    """Return sinusoids float32 [S, D] (Vaswani et al. 2017, 3.5): D / 2 sines, then D / 2 cosines.

    Departure: there sine and cosine alternate; the order of dimensions changes nothing.
    """
    half = width // 2
    rates = torch.exp(torch.arange(half, device=like.device) * (-math.log(1e4) / max(1, half - 1)))
    angles = torch.arange(length, device=like.device)[:, None] * rates
    return functional.pad(torch.cat([angles.sin(), angles.cos()], 1), (0, width - 2 * half))


class FeedForward(nn.Module):
    """Two layers with a rectifier between (Vaswani et al. 2017, eq. 2).

    Args:
        width: D.
        inner: Width between.
    """

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, inner)
        self.down = nn.Linear(inner, width)
        for part in (self.up, self.down):
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)

    def forward(self, rows: Tensor) -> Tensor:
        """Return [..., D] of `rows` [..., D]."""
        changed: Tensor = self.down(self.up(rows).relu())
        return changed


class TransformerLayer(nn.Module):
    """Attention and feed-forward, each with a residual path and a layer norm.

    Queries need not be the keys: the pyramid of Li 2021 asks a layer with rows of its own.

    Args:
        attention: Queries [B, Q, D], keys [B, S, D], bias -> [B, Q, D].
        feed_forward: [B, Q, D] -> [B, Q, D].
        width: D.
        dropout: Of what each block adds.
        norm_first: Norm before each block (Li 2021, 4.3.1), else after it (Vaswani et al. 2017).
    """

    def __init__(
        self,
        attention: MultiHeadAttention,
        feed_forward: FeedForward,
        *,
        width: int,
        dropout: float,
        norm_first: bool,
    ) -> None:
        super().__init__()
        self.attention = attention
        self.feed_forward = feed_forward
        self.attention_norm = nn.LayerNorm(width)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, queries: Tensor, keys: Tensor, bias: Tensor | None = None) -> Tensor:
        """Return [B, Q, D].

        Args:
            queries: [B, Q, D].
            keys: [B, S, D]; the same as `queries` for self-attention.
            bias: Added to the scores, as `key_bias` makes it.
        """
        if self.norm_first:
            asked = self.attention_norm(queries)
            seen = asked if keys is queries else self.attention_norm(keys)
            rows: Tensor = queries + self.dropout(self.attention(asked, seen, bias))
            after: Tensor = rows + self.dropout(self.feed_forward(self.feed_forward_norm(rows)))
            return after
        rows = self.attention_norm(queries + self.dropout(self.attention(queries, keys, bias)))
        after = self.feed_forward_norm(rows + self.dropout(self.feed_forward(rows)))
        return after


def make_layer(
    width: int, *, heads: int, inner: int, dropout: float, norm_first: bool
) -> TransformerLayer:
    """Return one layer with attention and feed-forward of these sizes."""
    return TransformerLayer(
        MultiHeadAttention(width, heads),
        FeedForward(width, inner),
        width=width,
        dropout=dropout,
        norm_first=norm_first,
    )


class TransformerEncoder(nn.Module):
    """Token ids to a vector a token, each told of all others.

    Args:
        embedding: ids int64 [B, S, ...] -> [B, S, D].
        layers: Applied in turn.
        width: D.
        dropout: Of the embedded tokens.
        first_token: Whether a learned row is put before every sentence, whose state stands for the
            whole of it: STR_TAG of Li 2021 (4.2.1). It is no id, so no tokenizer need know it; the
            states then have one row more than there are tokens.
    """

    def __init__(
        self,
        embedding: nn.Module,
        layers: Iterable[TransformerLayer],
        *,
        width: int,
        dropout: float,
        first_token: bool = False,
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.layers = nn.ModuleList(layers)
        self.width = width
        self.dropout = nn.Dropout(dropout)
        # Layers that norm before each block leave the last sum without one.
        pre_norm = any(layer.norm_first for layer in self.layers)
        self.norm: nn.Module = nn.LayerNorm(width) if pre_norm else nn.Identity()
        self.first = nn.Parameter(torch.randn(width) / math.sqrt(width)) if first_token else None

    def forward(self, ids: Tensor, mask: Tensor) -> States:
        """Return states [B, S, D], or [B, 1 + S, D] with a first token.

        Args:
            ids: int64 [B, S, ...], as the embedding takes them.
            mask: bool [B, S].
        """
        rows, mask = self.embedded(ids, mask)
        return States(self.norm(self.outputs(rows, mask)[-1]), mask)

    def embedded(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the first layer's input H^0 and its mask, with the first token where there is."""
        rows = self.embedding(ids)
        if self.first is not None:
            tag = (self.first * math.sqrt(self.width)).expand(rows.shape[0], 1, self.width)
            rows = torch.cat([tag, rows], 1)
            mask = torch.cat([torch.ones_like(mask[:, :1]), mask], 1)
        rows = rows + positions(self.width, rows.shape[1], rows)
        return self.dropout(rows), mask

    def outputs(self, rows: Tensor, mask: Tensor) -> Sequence[Tensor]:
        """Return H^0, which is `rows` [B, S, D], and every layer's output, before the norm."""
        bias = key_bias(mask)
        outputs = [rows]
        for layer in self.layers:
            outputs.append(layer(outputs[-1], outputs[-1], bias))
        return outputs
