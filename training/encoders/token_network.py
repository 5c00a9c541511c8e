"""From static vectors to what trained layers read.

Static vectors of all languages lie in one space, in which a word stands beside its translations. A
small network that is fitted to say, of the static vector of an English word, which vector the
teacher's own layers know it by, therefore says something of words of the other languages as well:
those layers can read them before anything else is trained. It stands in place of the weighted means
of nearest neighbours of WECHSEL (Minixhofer et al. 2022, section 3.3), and is stored in place of a
second table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from service.text.tokenizer import Tokenizer

_TINY = 1e-6
_LONGEST_WORD = 32  # pieces


class TokenNetwork(nn.Module):
    """One hidden layer, [T, D] static vectors to [T, D] vectors to be read.

    A static vector's length says how telling its token is, so it goes in beside the direction.

    Args:
        width: D.
        inner: Of the hidden layer.
    """

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.up = nn.Linear(width + 1, inner)
        self.down = nn.Linear(inner, width)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return [..., D] of static `vectors` [..., D]."""
        length = vectors.square().sum(-1, keepdim=True).add(_TINY**2).sqrt()
        described = torch.cat(
            [vectors * (math.sqrt(vectors.shape[-1]) / length), length.log()], dim=-1
        )
        read: Tensor = self.down(functional.gelu(self.up(described)))
        return read


def word_pairs(
    table: Tensor, tokenizer: Tokenizer, words: Sequence[str], known: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return what the network is fitted to: static vectors, the teacher's, and which words.

    Args:
        table: float32 [V, D], static vectors of `tokenizer`'s pieces.
        tokenizer: Cuts a word into pieces; its static vector is the sum of theirs.
        words: The teacher's WordPieces, in the order of `known`. Only whole words in ASCII are
            taken: `##ing` and `[MASK]` are nothing that our tokenizer could be given.
        known: float32 [words, D], the teacher's vectors of them.

    Returns:
        float32 [N, D], float32 [N, D], and int64 [N], which rows of `known` they are.
    """
    chosen = [
        number
        for number, word in enumerate(words)
        if word.isascii() and not word.startswith(("##", "["))
    ]
    tokens = tokenizer.encode([words[i] for i in chosen], max_tokens=_LONGEST_WORD).tokens
    lengths = torch.tensor(list(map(len, tokens)), dtype=torch.int64)
    ids = torch.from_numpy(np.concatenate([np.asarray(t, dtype=np.int64) for t in tokens]))
    sums = functional.embedding_bag(ids, table, lengths.cumsum(0) - lengths, mode="sum")
    rows = torch.tensor(chosen, dtype=torch.int64)
    return sums, known[rows], rows


def fit_token_network(
    network: TokenNetwork,
    inputs: Tensor,
    outputs: Tensor,
    weights: Tensor,
    *,
    steps: int,
    rate: float = 1e-3,
    batch: int = 2048,
    seed: int = 0,
) -> float:
    """Fit `network` to give `outputs` for `inputs`, and return the part of variance it explains.

    Args:
        network: Changed in place.
        inputs: float32 [N, D].
        outputs: float32 [N, D].
        weights: float32 [N], how often each is drawn.
        steps: Batches; the learning rate falls to 0 in a straight line.
        rate: AdamW's, at first.
        batch: Words at a time.
        seed: Of what is drawn.
    """
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=0.01)
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = rate * (1 - step / steps)
        drawn = torch.multinomial(weights, batch, replacement=True, generator=generator)
        loss = (network(inputs[drawn]) - outputs[drawn]).square().sum(1).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    share = (weights / weights.sum())[:, None]
    with torch.inference_mode():
        missed = (share * (network(inputs) - outputs).square()).sum()
        spread = (share * (outputs - (share * outputs).sum(0)).square()).sum()
    return float(1 - missed / spread)
