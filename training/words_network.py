"""The network from static vectors to the teacher's word vectors, fitted once in a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from service.text.tokenizer import Tokenizer
from training.data.corpus import Corpus
from training.encoders.token_network import TokenNetwork, fit_token_network, word_pairs
from training.teacher import DIMENSION, teacher_tokenizer, word_counts
from training.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPlan:
    """How large it is, and how it is fitted."""

    inner: int  # width between its two layers
    steps: int
    seed: int


def network_to_words(
    work: Workspace,
    corpus: Corpus,
    table: Tensor,
    tokenizer: Tokenizer,
    words: Tensor,
    plan: NetworkPlan,
) -> TokenNetwork:
    """Return the network, from the run's cache where it has been fitted.

    Args:
        work: Keeps it.
        corpus: Whose English says how much each word counts.
        table: float32 [V, D], the static vectors of the tokens ...
        tokenizer: ... of this vocabulary.
        words: float32 [W, D], the teacher's vectors of its WordPieces.
        plan: Its size and fit.
    """
    network = TokenNetwork(DIMENSION, plan.inner)

    def fit() -> TokenNetwork:
        theirs = teacher_tokenizer()
        names = theirs.decode(list(range(theirs.vocabulary_size)))
        counts = word_counts(corpus, theirs, seed=plan.seed)
        inputs, outputs, rows = word_pairs(table, tokenizer, names, words)
        told = fit_token_network(
            network, inputs, outputs, counts[rows].sqrt(), steps=plan.steps, seed=plan.seed
        )
        work.progress.note(f"{len(rows):,} English words, {told:.1%} of their vectors told")
        return network

    def load(path: Path) -> TokenNetwork:
        network.load_state_dict(torch.load(path, weights_only=True))
        return network

    work.progress.title("network: from static vectors to the teacher's words")
    return work.keep(
        "network.pt", fit, save=lambda made, path: torch.save(made.state_dict(), path), load=load
    )
