"""The static encoder."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from training.data.batches import Sentences
from training.encoders.static import StaticEncoder, flatten_lengths, random_table


@given(st.lists(st.lists(st.integers(0, 19), max_size=6), min_size=1, max_size=5))
def test_a_vector_is_the_mean_of_its_tokens(batch: list[list[int]]) -> None:
    table = random_table(20, 8, seed=0)
    encoder = StaticEncoder(table)
    ids = torch.tensor([token for tokens in batch for token in tokens], dtype=torch.int64)
    vectors = encoder(Sentences(ids, torch.tensor([len(tokens) for tokens in batch])))
    rows = table.numpy()
    expected = [rows[tokens].mean(0) if tokens else np.zeros(8) for tokens in batch]
    np.testing.assert_allclose(vectors.detach().numpy(), expected, atol=1e-6)


def test_pads_never_change_a_vector() -> None:
    encoder = StaticEncoder(random_table(20, 8, seed=0))
    ids = torch.tensor([[3, 4, 5, 9, 9], [7, 2, 9, 9, 9]])
    mask = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 0, 0, 0]])
    together = encoder(Sentences.from_padded(ids, mask))
    for row, tokens in enumerate(([3, 4, 5], [7, 2])):
        alone = encoder(Sentences(torch.tensor(tokens), torch.tensor([len(tokens)])))
        assert torch.allclose(together[row], alone[0], atol=1e-7)


def test_only_rows_of_the_batch_get_a_gradient() -> None:
    encoder = StaticEncoder(random_table(20, 8, seed=0))
    sentences = Sentences(torch.tensor([3, 3, 5]), torch.tensor([2, 1]))
    encoder(sentences).sum().backward()
    gradient = encoder.table.grad
    assert gradient is not None
    assert gradient.is_sparse
    expected = torch.zeros(20, 8)
    expected[3], expected[5] = 1.0, 1.0  # twice a half, and one
    assert torch.allclose(gradient.to_dense(), expected)


def test_the_random_table_depends_on_its_seed() -> None:
    assert torch.equal(random_table(5, 4, seed=1), random_table(5, 4, seed=1))
    assert not torch.equal(random_table(5, 4, seed=1), random_table(5, 4, seed=2))
    assert random_table(4000, 8, seed=0).std().item() == pytest.approx(0.02, rel=0.05)


@pytest.mark.parametrize("power", [0.0, 0.5, 0.75, 1.0])
def test_lengths_are_flattened_and_directions_kept(power: float) -> None:
    lengths = torch.tensor([0.01, 1.0, 2.0, 4.0, 32.0])
    directions = torch.nn.functional.normalize(random_table(5, 64, seed=0), dim=1)
    flat = flatten_lengths(directions * lengths[:, None], power)
    torch.testing.assert_close(flat.norm(dim=1), 2 * (lengths / 2) ** power)
    torch.testing.assert_close(torch.nn.functional.normalize(flat, dim=1), directions)


def test_tokens_without_a_vector_stay_without() -> None:
    table = torch.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 2.0]])
    assert torch.equal(flatten_lengths(table, 0.5)[0], torch.zeros(2))
    assert torch.equal(flatten_lengths(torch.zeros(3, 2), 0.5), torch.zeros(3, 2))
    assert torch.equal(flatten_lengths(table, 1.0), table)
