"""LSTM decoders without attention: all they know of the sentence is its vector."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from training.data.batches import Sentences
from training.decoders.targets import Predictions, force
from training.encoders.states import Encoded


class LstmDecoder(nn.Module):
    """Writes a sentence from its vector.

    The first input is a learned vector of the target language: with one decoder for all languages
    it is the token that says which to write (Johnson et al. 2016; Yu, Li & Oguz 2018, section 2),
    with a decoder of its own it is the mark of the begin.

    The sentence vector sets the first state of every layer. Departure: through a linear map, where
    Yu et al. take the vector itself, so that widths and depths need not agree; Schwenk & Douze do
    not say how. With `every_step` it also joins each input (Yu et al., section 2.2: "and also as a
    constant input to the decoder at each position").

    Dropout is vertical, as in `RecurrentEncoder`, and on what goes into the softmax.

    Args:
        embedding: [V, E], vectors of the tokens written so far.
        layers: One-layer LSTMs with the batch first; the first takes E, or E + D with `every_step`.
        languages: That it can write.
        vector: Width D of a sentence vector.
        every_step: Whether each input has the sentence vector at its end.
        dropout: Its probability.
    """

    def __init__(
        self,
        embedding: nn.Embedding,
        layers: Sequence[nn.LSTM],
        *,
        languages: Sequence[str],
        vector: int,
        every_step: bool,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self._places = {language: place for place, language in enumerate(languages)}
        self.embedding = embedding
        self.begin = nn.Parameter(torch.empty(len(languages), embedding.embedding_dim))
        nn.init.uniform_(self.begin, -0.1, 0.1)
        self.layers = nn.ModuleList(layers)
        self.initial = nn.ModuleList(nn.Linear(vector, 2 * layer.hidden_size) for layer in layers)
        self.output = nn.Linear(layers[-1].hidden_size, embedding.num_embeddings)
        self.dropout = nn.Dropout(dropout)
        self._every_step = every_step

    def forward(self, encoded: Encoded, target: Sentences, language: str) -> Predictions:
        """Return what it says of `target`, each token given those before it.

        Args:
            encoded: The vectors [B, D]; the states behind them are not looked at.
            target: B sentences.
            language: In which `target` is.
        """
        forced = force(target)
        states = self._states(encoded.vectors, forced.previous, language)  # [B, T + 1, H]
        logits = self.output(self.dropout(states[forced.mask]))  # [M, V]
        return Predictions(logits, forced.answers, forced.sentence, len(target))

    def _states(self, vectors: Tensor, previous: Tensor, language: str) -> Tensor:
        begin = self.begin[self._places[language]].expand(len(vectors), 1, -1)
        inputs = torch.cat([begin, self.embedding(previous[:, 1:])], dim=1)  # [B, T + 1, E]
        if self._every_step:
            constant = vectors[:, None].expand(-1, inputs.shape[1], -1)
            inputs = torch.cat([inputs, constant], dim=2)  # [B, T + 1, E + D]
        # Pads stand at the end, where a decoder that reads from left to right has done its work.
        for layer, initial in zip(self.layers, self.initial, strict=True):
            hidden, cell = torch.tanh(initial(vectors)).chunk(2, dim=1)
            first = hidden[None].contiguous(), cell[None].contiguous()
            inputs = layer(self.dropout(inputs), first)[0]
        return inputs
