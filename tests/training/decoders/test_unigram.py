"""How often each token is due."""

from __future__ import annotations

import math

import numpy as np
import pytest

from training.data.tokens import TokenTable
from training.decoders.unigram import log_frequencies

TOKENS = TokenTable(
    np.array([3, 3, 1, 5, 2, 2, 2], dtype=np.int32), np.array([0, 2, 4, 7], dtype=np.int64)
)


def test_targets_their_ends_and_one_of_each_id_are_counted() -> None:
    found = log_frequencies(TOKENS, np.array([0, 1, 0]), 6)
    # Sentence 0 twice and sentence 1: four times 3, once 1 and 5, three ends (id 0).
    expected = [4, 2, 1, 5, 1, 2]
    assert found.tolist() == pytest.approx([math.log(count / 15) for count in expected])


def test_without_a_target_all_ids_are_alike() -> None:
    found = log_frequencies(TOKENS, np.array([], dtype=np.int64), 4)
    assert found.tolist() == pytest.approx([math.log(1 / 4)] * 4)
