"""NTDV's shared layers against numpy written from Li 2021, eq. 3.1-3.4."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn

from tests.training.transformer_by_hand import Array, gru_step, softmax, weights
from training.data.batches import Sentences
from training.decoders.attention_gru import AttentionGruDecoder
from training.encoders.ntdv import ContextHeads, NtdvStates, SumOfHeads, ThroughShared, freeze
from training.encoders.recurrent import RecurrentEncoder, token_vectors
from training.encoders.states import SentenceEncoder, States
from training.sentence_vectors import MeanPooling

WIDTH, HEADS = 6, 4
LENGTHS = (5, 1, 3)


def make(seed: int = 0) -> NtdvStates:
    torch.manual_seed(seed)
    layer = nn.GRU(5, WIDTH, batch_first=True, bidirectional=True)
    frozen = RecurrentEncoder(token_vectors(20, 5), [layer])
    gru = nn.GRU(2 * WIDTH, WIDTH, batch_first=True)
    heads = ContextHeads(WIDTH, HEADS)
    for parameter in heads.parameters():
        nn.init.normal_(parameter)
    return NtdvStates(frozen, gru, heads).eval()


def rectangle() -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.randint(0, 20, (3, 5), generator=torch.Generator().manual_seed(1))
    return ids, torch.arange(5) < torch.tensor(LENGTHS)[:, None]


def context_matrix(tokens: NtdvStates, states: Array) -> Array:
    """Return P^T [r, d_h] of one sentence with the frozen encoder's states [S, C]."""
    state, hidden = np.zeros(WIDTH), []
    for row in states:
        state = gru_step(tokens.gru, row, state, suffix="_l0")
        hidden.append(state)
    z = np.array(hidden)
    columns = []
    for i in range(HEADS):
        rows = slice(i * WIDTH, (i + 1) * WIDTH)
        query, key, value = (
            z @ weights(tokens.heads, f"{name}.weight")[rows].T
            for name in ("query", "key", "value")
        )
        contexts = [softmax(key @ q / math.sqrt(WIDTH)) @ value for q in query]
        columns.append(np.mean(contexts, axis=0))
    return np.array(columns)


def test_vectors_are_those_of_eq_3_1_to_3_4() -> None:
    tokens = make()
    ids, mask = rectangle()
    concatenated = SentenceEncoder(tokens, MeanPooling())
    summed = SentenceEncoder(tokens, SumOfHeads(MeanPooling(), HEADS))
    with torch.no_grad():
        found = concatenated.rectangle(ids, mask), summed.rectangle(ids, mask)
        for row, length in enumerate(LENGTHS):
            alone: States = tokens.frozen(ids[row : row + 1, :length], mask[row : row + 1, :length])
            matrix = context_matrix(tokens, alone.vectors[0].double().numpy())
            np.testing.assert_allclose(found[0][row].numpy(), matrix.ravel(), atol=1e-5)
            np.testing.assert_allclose(found[1][row].numpy(), matrix.sum(0), atol=1e-5)


def test_pads_never_change_the_vector() -> None:
    encoder = SentenceEncoder(make(), MeanPooling())
    ids, mask = rectangle()
    with torch.no_grad():
        together = encoder.rectangle(ids, mask)
        torch.testing.assert_close(together, encoder.rectangle(ids.masked_fill(~mask, 3), mask))
        for row, length in enumerate(LENGTHS):
            alone = encoder.rectangle(ids[row : row + 1, :length], mask[row : row + 1, :length])
            torch.testing.assert_close(together[row], alone[0], atol=1e-6, rtol=0)


def test_a_step_changes_the_shared_layers_and_not_a_bit_of_the_frozen_ones() -> None:
    tokens = make().train()
    shared = nn.Linear(HEADS * WIDTH, 2 * WIDTH)
    decoder = AttentionGruDecoder(20, embedding=5, hidden=WIDTH, states=2 * WIDTH)
    freeze(tokens.frozen)
    through = ThroughShared(shared, freeze(decoder))
    system = nn.ModuleList([tokens, through])
    before = {name: value.clone() for name, value in system.state_dict().items()}
    # Every parameter is given to the optimiser: the freezing alone has to keep it out.
    optimiser = torch.optim.AdamW(system.parameters(), lr=0.1, weight_decay=0.1)
    target = Sentences(torch.tensor([3, 4, 5, 9, 2]), torch.tensor([3, 2]))
    for _ in range(2):
        optimiser.zero_grad()
        encoded = SentenceEncoder(tokens, MeanPooling()).encode(target)
        through(encoded, target, "de").logits.square().mean().backward()
        optimiser.step()
    changed = {name for name, value in system.state_dict().items() if not value.equal(before[name])}
    trained = {name for name, p in system.named_parameters() if p.requires_grad}
    assert changed == trained
    assert {name.split(".")[1] for name in changed} == {"gru", "heads", "shared"}
