"""The systems of the recipes once more, as one writes them with torch's own modules.

Each is a module that takes padded ids, int64 [B, S] a language with 0 at pads, and returns the
loss. Batches are of a fixed number of sentences, of random lengths, as a first version has them: no
buckets, no token budget, every sentence padded to the longest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """A model and how it is stepped.

    Attributes:
        model: Padded ids of each side -> loss.
        optimiser: Of its weights.
        sides: Languages of a batch.
        clip: Greatest norm of the gradient.
        ngrams: N-grams of a word; 0 where ids are words alone.
    """

    model: nn.Module
    optimiser: torch.optim.Optimizer
    sides: int
    clip: float | None = None
    ngrams: int = 0

    def step(self, sides: list[Tensor]) -> None:
        """Train on one batch."""
        self.optimiser.zero_grad(set_to_none=True)
        self.model(*sides).backward()
        if self.clip is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimiser.step()


class RecurrentEncoder(nn.Module):
    """Embedding, `nn.LSTM` or `nn.GRU` over packed sequences; states [B, S, D]."""

    def __init__(
        self, vocabulary: int, width: int, layers: list[nn.RNNBase], *, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(layers)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the states."""
        lengths = (ids > 0).sum(1)
        states = pack_padded_sequence(
            self.embedding(ids), lengths, batch_first=True, enforce_sorted=False
        )
        for layer in self.layers:
            states = layer(states._replace(data=self.dropout(states.data)))[0]
        return pad_packed_sequence(states, batch_first=True)[0]


class RecurrentDecoder(nn.Module):
    """`nn.LSTM` whose inputs are the last token and the sentence vector."""

    def __init__(
        self, vocabulary: int, width: int, vector: int, hidden: int, *, dropout: float
    ) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.embedding = nn.Embedding(vocabulary, width)
        self.initial = nn.Linear(vector, 2 * hidden)
        self.lstm = nn.LSTM(width + vector, hidden, batch_first=True)
        self.output = nn.Linear(hidden, vocabulary)

    def forward(self, vectors: Tensor, target: Tensor) -> Tensor:
        """Return the cross-entropy of `target`."""
        previous, answers, mask = shifted(target)
        constant = vectors[:, None].expand(-1, previous.shape[1], -1)
        inputs = self.dropout(torch.cat([self.embedding(previous), constant], 2))
        hidden, cell = torch.tanh(self.initial(vectors)).chunk(2, 1)
        states = self.lstm(inputs, (hidden[None].contiguous(), cell[None].contiguous()))[0]
        return functional.cross_entropy(self.output(self.dropout(states[mask])), answers[mask])


class VectorTranslation(nn.Module):
    """An encoder, a sentence vector and a decoder a target."""

    def __init__(
        self,
        encoder: nn.Module,
        pool: Callable[[Tensor, Tensor], Tensor],
        decoders: list[nn.Module],
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.pool = pool
        self.decoders = nn.ModuleList(decoders)

    def forward(self, source: Tensor, *targets: Tensor) -> Tensor:
        """Return the loss over all targets."""
        vectors = self.pool(self.encoder(source), source > 0)
        pairs = zip(self.decoders, targets, strict=True)
        return torch.stack([decoder(vectors, target) for decoder, target in pairs]).sum()


class BothWays(nn.Module):
    """One encoder and one decoder, each side written from the other; squared distance besides."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module, weight: float) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.weight = weight

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """Return the loss."""
        one, other = (masked_mean(self.encoder(side), side > 0) for side in (first, second))
        distance = (one - other).square().sum(1).mean()
        written = self.decoder(one, second) + self.decoder(other, first)
        loss: Tensor = written + self.weight * distance
        return loss


class AttentionGru(nn.Module):
    """Bidirectional `nn.GRU` and a conditional GRU of two `nn.GRUCell`s with attention between."""

    def __init__(self, vocabulary: int, width: int, hidden: int) -> None:
        super().__init__()
        layer = nn.GRU(width, hidden, batch_first=True, bidirectional=True)
        self.encoder = RecurrentEncoder(vocabulary, width, [layer])
        self.embedding = nn.Embedding(vocabulary, width)
        self.initial = nn.Linear(2 * hidden, hidden)
        self.before, self.after = nn.GRUCell(width, hidden), nn.GRUCell(2 * hidden, hidden)
        self.query = nn.Linear(hidden, 2 * hidden, bias=False)
        self.key = nn.Linear(2 * hidden, 2 * hidden)
        self.score = nn.Linear(2 * hidden, 1, bias=False)
        self.readout = nn.Linear(3 * hidden + width, width)
        self.output = nn.Linear(width, vocabulary)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the cross-entropy of `target`."""
        states, seen = self.encoder(source), source > 0
        previous, answers, mask = shifted(target)
        tokens = self.embedding(previous)
        state = torch.tanh(self.initial(masked_mean(states, seen)))
        keys, rows = self.key(states), []
        for step in range(tokens.shape[1]):
            state = self.before(tokens[:, step], state)
            scores = self.score(torch.tanh(keys + self.query(state)[:, None]))[:, :, 0]
            weights = scores.masked_fill(~seen, -1e9).softmax(1)
            context = (weights[:, None] @ states)[:, 0]
            state = self.after(context, state)
            rows.append(torch.cat([state, context, tokens[:, step]], 1))
        spoken = torch.tanh(self.readout(torch.stack(rows, 1)[mask]))
        return functional.cross_entropy(self.output(spoken), answers[mask])


class TransformerSentences(nn.Module):
    """Embedding and `nn.TransformerEncoder`; states [B, S, D]."""

    def __init__(self, embedding: nn.Module, layer: nn.TransformerEncoderLayer, depth: int) -> None:
        super().__init__()
        self.embedding = embedding
        self.layers = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the states; ids may have n-grams in a third dimension."""
        words = ids if ids.ndim == 2 else ids[..., 0]
        rows = self.embedding(ids)
        states: Tensor = self.layers(rows + positions(rows), src_key_padding_mask=words == 0)
        return states


class WordsWithNgrams(nn.Module):
    """`nn.Embedding` of words and `nn.EmbeddingBag` of n-grams."""

    def __init__(self, words: int, ngrams: int, size: int, width: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, size, sparse=True)
        self.ngrams = nn.EmbeddingBag(ngrams, size, mode="sum", padding_idx=0, sparse=True)
        self.characters = nn.Linear(size, size)
        self.result = nn.Linear(size, width)

    def forward(self, ids: Tensor) -> Tensor:
        """Return [B, S, D] of ids [B, S, 1 + n-grams]."""
        grams = self.ngrams(ids[..., 1:].flatten(0, 1)).reshape(*ids.shape[:2], -1)
        vectors: Tensor = self.result((self.words(ids[..., 0]) + self.characters(grams).tanh()) / 2)
        return vectors


class TransformerTranslation(nn.Module):
    """A transformer, its first state, and one `nn.TransformerDecoderLayer` that sees it alone."""

    def __init__(
        self, encoder: nn.Module, vocabulary: int, decoder: nn.TransformerDecoderLayer, width: int
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.embedding = nn.Embedding(vocabulary, width)
        self.decoder = nn.TransformerDecoder(decoder, 1)
        self.output = nn.Linear(width, vocabulary, bias=False)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the cross-entropy of `target`; id 1 stands first, for the whole."""
        first = torch.cat([torch.ones_like(source[:, :1]), source], 1)
        memory = self.encoder(first)[:, :1]
        previous, answers, mask = shifted(target)
        rows = self.embedding(previous)
        future = nn.Transformer.generate_square_subsequent_mask(rows.shape[1])
        states = self.decoder(rows + positions(rows), memory, tgt_mask=future, tgt_is_causal=True)
        return functional.cross_entropy(self.output(states[mask]), answers[mask])


class Ranking(nn.Module):
    """Two sides of one encoder, ranked within the batch."""

    def __init__(self, encode: nn.Module, temperature: float | None) -> None:
        super().__init__()
        self.encode = encode
        self.temperature = temperature

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """Return the loss: dot products, or cosines over a temperature both ways."""
        one, other = self.encode(first), self.encode(second)
        due = torch.arange(len(one))
        if self.temperature is None:
            return functional.cross_entropy(one @ other.T, due)
        scores = functional.normalize(one) @ functional.normalize(other).T / self.temperature
        return functional.cross_entropy(scores, due) + functional.cross_entropy(scores.T, due)


class Mean(nn.Module):
    """The mean of what an encoder says of the tokens."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: Tensor) -> Tensor:
        """Return [B, D]."""
        return masked_mean(self.encoder(ids), (ids if ids.ndim == 2 else ids[..., 0]) > 0)


class Hinge(nn.Module):
    """`nn.EmbeddingBag` sums of two languages, and noise from a pool of sentences."""

    def __init__(self, vocabulary: int, width: int, noise: int, margin: float) -> None:
        super().__init__()
        self.first = nn.EmbeddingBag(vocabulary, width, mode="sum", padding_idx=0, sparse=True)
        self.second = nn.EmbeddingBag(vocabulary, width, mode="sum", padding_idx=0, sparse=True)
        self.noise = noise
        self.margin = margin

    def forward(self, source: Tensor, target: Tensor, pool: Tensor) -> Tensor:
        """Return the hinge."""
        one, other, others = self.first(source), self.second(target), self.second(pool)
        noise = others[torch.randint(len(others), (len(one), self.noise))]
        near = (one - other).square().sum(1)
        far = (one[:, None] - noise).square().sum(2)
        hinge: Tensor = (self.margin + near[:, None] - far).clamp(min=0).sum() / len(one)
        return hinge


def shifted(target: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return what a decoder is given, what it has to say, and where: all [B, T + 1]."""
    begin = torch.ones_like(target[:, :1])
    previous = torch.cat([begin, target], 1)
    answers = torch.cat([target, begin * 0], 1)
    return previous, answers, previous > 0


def masked_mean(states: Tensor, mask: Tensor) -> Tensor:
    """Return the mean of states [B, S, D] where mask [B, S]."""
    kept = mask[:, :, None]
    mean: Tensor = (states * kept).sum(1) / kept.sum(1)
    return mean


def masked_max(states: Tensor, mask: Tensor) -> Tensor:
    """Return the maximum of states [B, S, D] where mask [B, S]."""
    return states.masked_fill(~mask[:, :, None], -math.inf).amax(1)


def positions(rows: Tensor) -> Tensor:
    """Return sines and cosines [S, D] for rows [B, S, D]."""
    places = torch.arange(rows.shape[1])[:, None]
    rates = torch.exp(torch.arange(0, rows.shape[2], 2) * (-math.log(10000.0) / rows.shape[2]))
    return torch.cat([torch.sin(places * rates), torch.cos(places * rates)], 1)
