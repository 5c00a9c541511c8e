"""Translation cross-entropy against numpy."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
import torch

from training.data.batches import Sentences
from training.decoders.targets import Predictions
from training.objectives.translation import TranslationLoss

TARGET = Sentences(torch.tensor([3, 4, 1]), torch.tensor([2, 1]))
ANSWERS = [3, 4, 0, 1, 0]
SENTENCE = [0, 0, 0, 1, 1]


@pytest.mark.parametrize("mean", ["sentence", "token"])
def test_against_the_formula(mean: Literal["sentence", "token"]) -> None:
    logits = np.random.default_rng(0).standard_normal((5, 6))
    probabilities = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    surprise = -np.log(probabilities[np.arange(5), ANSWERS])
    expected = {
        "sentence": (surprise[:3].mean() + surprise[3:].mean()) / 2,
        "token": surprise.mean(),
    }
    predictions = Predictions(
        torch.from_numpy(logits).float(), torch.tensor(ANSWERS), torch.tensor(SENTENCE), 2
    )
    loss = TranslationLoss(mean)
    found = float(loss.total(predictions)) / loss.units(TARGET)
    assert found == pytest.approx(expected[mean], rel=1e-6)
