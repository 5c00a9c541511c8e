"""The attention GRU decoder of neural machine translation.

Li 2021, section 3.2.1, builds NTDV on Nematus (Sennrich et al. 2017, section 3.1), whose decoder is
a conditional GRU: with token vectors y, encoder states h_1 .. h_S and hidden states s,

    s'_t = GRU_1(y_{t-1}, s_{t-1})
    e_it = v . tanh(U s'_t + W h_i),  a_t = softmax(e_t),  c_t = sum_i a_it h_i
    s_t  = GRU_2(c_t, s'_t)
    p_t  = softmax(V tanh(V_s s_t + V_y y_{t-1} + V_c c_t))

and s_0 = tanh(W_0 mean_i h_i).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from training.data.batches import Sentences
from training.decoders.targets import Predictions, force
from training.encoders.states import Encoded, States


class AttentionGruDecoder(nn.Module):
    """Writes a sentence of one language from the states of its encoder.

    Args:
        vocabulary: V.
        embedding: Width E of a token's vector.
        hidden: Width H of its states.
        states: Width C of the encoder's states.
    """

    def __init__(self, vocabulary: int, *, embedding: int, hidden: int, states: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, embedding)
        nn.init.normal_(self.embedding.weight, std=0.01)  # as Nematus begins
        self.begin = nn.Parameter(torch.zeros(embedding))
        self.initial = nn.Linear(states, hidden)
        self.before = nn.GRUCell(embedding, hidden)
        self.after = nn.GRUCell(states, hidden)
        self.attention_state = nn.Linear(hidden, states, bias=False)
        self.attention_keys = nn.Linear(states, states)
        self.attention_score = nn.Linear(states, 1, bias=False)
        self.readout = nn.Linear(hidden + embedding + states, embedding)
        self.output = nn.Linear(embedding, vocabulary)

    def begin_with(self, log_frequencies: Tensor) -> None:
        """Let the untrained decoder say how often each token occurs.

        Else it has to learn that first, and the quickest way there is one readout for all places,
        as long as can be: in ten to twenty steps tanh saturates, passes no gradient on, and some
        models never learn more than these frequencies.

        Args:
            log_frequencies: float32 [V], natural logarithms.
        """
        with torch.no_grad():
            self.output.bias.copy_(log_frequencies)

    def forward(
        self,
        encoded: Encoded,
        target: Sentences,
        language: str,  # noqa: ARG002 - a decoder writes one language
    ) -> Predictions:
        """Return what it says of `target`, each token given those before it.

        Args:
            encoded: With the states [B, S, C]; the vector is not looked at.
            target: B sentences.
            language: Not looked at.

        Raises:
            ValueError: There are no states: the vector is a mean over several sources.
        """
        if encoded.states is None:
            raise ValueError("a mean of several sources has no states to attend to; this is a bug")
        forced = force(target)
        begin = self.begin.expand(len(target), 1, -1)
        tokens = torch.cat([begin, self.embedding(forced.previous[:, 1:])], 1)  # [B, T + 1, E]
        rows = torch.stack(self._steps(encoded.states, tokens), 1)  # [B, T + 1, H + C]
        spoken = torch.tanh(self.readout(torch.cat([rows, tokens], 2)[forced.mask]))
        return Predictions(self.output(spoken), forced.answers, forced.sentence, len(target))

    def _steps(self, states: States, tokens: Tensor) -> list[Tensor]:
        """Return s_t and c_t side by side for each step, T + 1 times [B, H + C]."""
        kept = states.mask.to(states.vectors.dtype)[:, :, None]
        mean = (states.vectors * kept).sum(1) / kept.sum(1).clamp(min=1)
        state = torch.tanh(self.initial(mean))
        keys = self.attention_keys(states.vectors)  # W h_i, the same at every step
        rows = []
        for step in range(tokens.shape[1]):
            state = self.before(tokens[:, step], state)
            context = self._attend(states, keys, state)
            state = self.after(context, state)
            rows.append(torch.cat([state, context], 1))
        return rows

    def _attend(self, states: States, keys: Tensor, state: Tensor) -> Tensor:
        """Return c_t [B, C]."""
        inner = torch.tanh(keys + self.attention_state(state)[:, None])
        scores = self.attention_score(inner)[:, :, 0].float()  # [B, S]
        weights = scores.masked_fill(~states.mask, torch.finfo(torch.float32).min).softmax(1)
        context: Tensor = (weights.type_as(inner)[:, None] @ states.vectors)[:, 0]
        return context
