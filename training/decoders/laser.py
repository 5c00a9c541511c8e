"""LASER's decoder: an LSTM that is told sentence and language at every step.

Artetxe & Schwenk 2019, section 3.1; Li 2021, section 2.1.4: the sentence vector sets the first
state through a linear map, and each input is the last token's vector, the sentence vector and a
vector of the target language, one after the other. 2048 wide, one layer (table 4.1).

Departure: the code that was published with the thesis also feeds the decoder's output back into its
input, as its 209 million parameters say (table 4.1; here 192). Without attention that output is the
hidden state, which the one layer has already: both go through one matrix each and are added up, so
the other matrix adds weights and no function.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from training.data.batches import Sentences
from training.decoders.targets import Predictions, force
from training.decoders.transformer import LANGUAGE_WIDTH
from training.encoders.states import Encoded

_RANGE = 0.1
"""Everything begins uniform in -0.1 .. 0.1, as in fairseq's LSTM, which the thesis built on."""


class LaserDecoder(nn.Module):
    """Writes a sentence in a language from its vector.

    Args:
        vocabulary: V.
        embedding: Width E of a token's vector.
        hidden: Width of the LSTM.
        vector: Width D of a sentence vector.
        languages: That it can write.
        dropout: Of the tokens' vectors and of what goes into the softmax.
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        embedding: int,
        hidden: int,
        vector: int,
        languages: Sequence[str],
        dropout: float,
    ) -> None:
        super().__init__()
        self._places = {language: place for place, language in enumerate(languages)}
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.begin = nn.Parameter(torch.empty(embedding))
        self.languages = nn.Parameter(torch.empty(len(languages), LANGUAGE_WIDTH))
        self.initial = nn.Linear(vector, 2 * hidden)
        self.lstm = nn.LSTM(embedding + vector + LANGUAGE_WIDTH, hidden, batch_first=True)
        self.output = nn.Linear(hidden, vocabulary)
        self.dropout = nn.Dropout(dropout)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -_RANGE, _RANGE)

    def forward(self, encoded: Encoded, target: Sentences, language: str) -> Predictions:
        """Return what it says of `target`, each token given those before it.

        Args:
            encoded: The vectors [B, D]; the states behind them are not looked at.
            target: B sentences.
            language: In which `target` is.
        """
        forced = force(target)
        inputs = self._inputs(encoded.vectors, forced.previous, language)
        hidden, cell = self.initial(encoded.vectors)[None].chunk(2, dim=2)
        # Pads stand at the end, where a decoder that reads from left to right has done its work.
        states, _ = self.lstm(inputs, (hidden.contiguous(), cell.contiguous()))
        logits = self.output(self.dropout(states[forced.mask]))  # [M, V]
        return Predictions(logits, forced.answers, forced.sentence, len(target))

    def _inputs(self, vectors: Tensor, previous: Tensor, language: str) -> Tensor:
        """Return [B, T + 1, E + D + 32]."""
        begin = self.begin.expand(len(vectors), 1, -1)
        tokens = self.dropout(torch.cat([begin, self.embedding(previous[:, 1:])], 1))
        steps = tokens.shape[1]
        constant = vectors[:, None].expand(-1, steps, -1)
        spoken = self.languages[self._places[language]].expand(len(vectors), steps, -1)
        return torch.cat([tokens, constant, spoken], 2)
