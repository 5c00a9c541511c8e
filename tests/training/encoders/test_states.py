"""Sentences that are encoded in groups of like length."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from training.data.batches import Sentences
from training.encoders.states import encode_by_length

LENGTHS = [5, 1, 0, 9, 2, 2, 7, 30, 1, 3]


class _Noted(nn.Module):
    """The sum and the length of each sentence; notes how wide the rectangles are."""

    def __init__(self) -> None:
        super().__init__()
        self.widths: list[int] = []

    def forward(self, sentences: Sentences) -> Tensor:
        ids, mask = sentences.padded()
        self.widths.append(ids.shape[1])
        return torch.stack([(ids * mask).sum(1), mask.sum(1)], 1)


def test_vectors_come_in_the_order_of_the_sentences_and_long_ones_pad_only_their_like() -> None:
    sentences = Sentences(torch.arange(sum(LENGTHS)), torch.tensor(LENGTHS))
    encoder = _Noted()
    grouped = encode_by_length(encoder, sentences, groups=3)
    assert encoder.widths == [2, 5, 30]
    assert torch.equal(grouped, _Noted()(sentences))


def test_fewer_sentences_than_groups_go_together() -> None:
    sentences = Sentences(torch.arange(4), torch.tensor([3, 1]))
    encoder = _Noted()
    assert torch.equal(encode_by_length(encoder, sentences), _Noted()(sentences))
    assert encoder.widths == [3]
    empty = Sentences(torch.arange(0), torch.arange(0))
    assert encode_by_length(encoder, empty).shape == (0, 2)
