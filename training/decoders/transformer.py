"""The transformer decoder of T-MDE, and what it may see of the sentence.

Li 2021, section 4.2.2: "we only allow the sentence embedding as 'key' and 'value' for the
encoder-decoder attention", the information bottleneck; T-MDE_F (section 4.4.4) lets the same
decoder see every state of the encoder. One layer (table 4.1), layer norm before each block (4.3.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn

from training.attention import MultiHeadAttention, causal_bias, key_bias
from training.data.batches import Sentences
from training.decoders.targets import Predictions, force
from training.encoders.states import Encoded
from training.encoders.transformer import FeedForward, TokenEmbedding, positions

Memory = Callable[[Encoded], tuple[Tensor, Tensor | None]]
"""(what was encoded) -> keys [B, K, D] and the bias that hides some of them."""

LANGUAGE_WIDTH = 32
"""Width of a target language's vector, in LASER (Artetxe & Schwenk 2019, section 3.1) and here."""


def sentence_memory(encoded: Encoded) -> tuple[Tensor, None]:
    """Show the sentence vector and nothing else, [B, 1, D] (T-MDE)."""
    return encoded.vectors[:, None], None


def states_memory(encoded: Encoded) -> tuple[Tensor, Tensor]:
    """Show the state of every token, [B, S, D] (T-MDE_F).

    Raises:
        ValueError: There are none: the vector is a mean over several sources.
    """
    if encoded.states is None:
        raise ValueError("a mean of several sources has no states to attend to; this is a bug")
    return encoded.states.vectors, key_bias(encoded.states.mask)


class DecoderLayer(nn.Module):
    """Attention to what is written so far, attention to the memory, feed-forward.

    Args:
        written: Attention among the target's rows.
        memory: Attention to the memory's rows.
        feed_forward: [B, T, D] -> [B, T, D].
        width: D.
        dropout: Of what each block adds.
    """

    def __init__(
        self,
        written: MultiHeadAttention,
        memory: MultiHeadAttention,
        feed_forward: FeedForward,
        *,
        width: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.written = written
        self.memory = memory
        self.feed_forward = feed_forward
        self.written_norm = nn.LayerNorm(width)
        self.memory_norm = nn.LayerNorm(width)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, rows: Tensor, future: Tensor, keys: Tensor, hidden: Tensor | None) -> Tensor:
        """Return [B, T, D].

        Args:
            rows: [B, T, D].
            future: Bias that hides what is not written yet, as `causal_bias` makes it.
            keys: The memory, [B, K, `key_width`].
            hidden: Bias over the memory.
        """
        asked = self.written_norm(rows)
        rows = rows + self.dropout(self.written(asked, asked, future))
        rows = rows + self.dropout(self.memory(self.memory_norm(rows), keys, hidden))
        after: Tensor = rows + self.dropout(self.feed_forward(self.feed_forward_norm(rows)))
        return after


def make_decoder_layer(
    width: int, *, heads: int, inner: int, dropout: float, vector: int
) -> DecoderLayer:
    """Return a layer of these sizes for a memory of `vector` numbers a row and a language's."""
    return DecoderLayer(
        MultiHeadAttention(width, heads),
        MultiHeadAttention(width, heads, key_width=vector + LANGUAGE_WIDTH),
        FeedForward(width, inner),
        width=width,
        dropout=dropout,
    )


class TransformerDecoder(nn.Module):
    """Writes a sentence in a language from what the memory shows of it.

    The thesis does not say how the decoder is told the language. As in LASER, and in the code that
    was published with the thesis, a learned vector of the target language is put to each row of the
    memory.

    Args:
        embedding: ids [B, T] -> [B, T, D]; the V of its table are what is written.
        layers: Applied in turn.
        memory: `sentence_memory` or `states_memory`.
        languages: That it can write.
        dropout: Of the embedded tokens.
    """

    def __init__(
        self,
        embedding: TokenEmbedding,
        layers: Iterable[DecoderLayer],
        memory: Memory,
        *,
        languages: Sequence[str],
        dropout: float,
    ) -> None:
        super().__init__()
        vocabulary, width = embedding.table.shape
        self._places = {language: place for place, language in enumerate(languages)}
        self._memory = memory
        self.embedding = embedding
        self.layers = nn.ModuleList(layers)
        self.begin = nn.Parameter(torch.randn(width) / math.sqrt(width))
        self.languages = nn.Parameter(torch.randn(len(languages), LANGUAGE_WIDTH))
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(width, vocabulary, bias=False)
        nn.init.normal_(self.output.weight, std=width**-0.5)

    def forward(self, encoded: Encoded, target: Sentences, language: str) -> Predictions:
        """Return what it says of `target`, each token given those before it.

        Args:
            encoded: The sentences.
            target: B sentences.
            language: In which `target` is.
        """
        forced = force(target)
        keys, hidden = self._memory(encoded)
        spoken = self.languages[self._places[language]].expand(*keys.shape[:2], -1)
        keys = torch.cat([keys, spoken], 2)  # [B, K, D + 32]
        rows = self._rows(forced.previous)
        future = causal_bias(rows.shape[1], rows)
        for layer in self.layers:
            rows = layer(rows, future, keys, hidden)
        logits = self.output(self.norm(rows[forced.mask]))  # [M, V]
        return Predictions(logits, forced.answers, forced.sentence, len(target))

    def _rows(self, previous: Tensor) -> Tensor:
        width = self.begin.shape[0]
        begin = (self.begin * math.sqrt(width)).expand(previous.shape[0], 1, width)
        rows = torch.cat([begin, self.embedding(previous[:, 1:])], 1)  # [B, T + 1, D]
        embedded: Tensor = self.dropout(rows + positions(width, rows.shape[1], rows))
        return embedded
