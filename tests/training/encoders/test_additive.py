"""A sentence is the sum of its words (Hermann & Blunsom 2013, eq. 3)."""

import torch

from training.data.batches import Sentences
from training.encoders.additive import AdditiveEncoder

TABLE = torch.randn(7, 3, generator=torch.Generator().manual_seed(0))


def test_the_vector_is_the_sum_of_the_rows() -> None:
    sentences = Sentences(torch.tensor([2, 2, 5, 1]), torch.tensor([3, 0, 1]))
    vectors = AdditiveEncoder(TABLE.clone())(sentences)
    expected = torch.stack([2 * TABLE[2] + TABLE[5], torch.zeros(3), TABLE[1]])
    torch.testing.assert_close(vectors, expected)


def test_pads_never_change_a_vector() -> None:
    encoder = AdditiveEncoder(TABLE.clone())
    alone = encoder.rectangle(torch.tensor([[3, 4]]), torch.tensor([[True, True]]))
    padded = encoder.rectangle(
        torch.tensor([[3, 4, 6, 6], [1, 1, 1, 1]]),
        torch.tensor([[True, True, False, False], [True, True, True, True]]),
    )
    torch.testing.assert_close(padded[:1], alone)


def test_the_gradient_holds_each_row_once() -> None:
    encoder = AdditiveEncoder(TABLE.clone())
    encoder(Sentences(torch.tensor([2, 5, 2]), torch.tensor([2, 1]))).sum().backward()
    gradient = encoder.table.grad
    assert gradient is not None
    assert gradient.is_sparse
    assert gradient._indices()[0].tolist() == [2, 5]
    torch.testing.assert_close(gradient.to_dense()[2], torch.full((3,), 2.0))
