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


@pytest.mark.parametrize("mean", ["sentence", "token", "sum"])
def test_against_the_formula(mean: Literal["sentence", "token", "sum"]) -> None:
    logits = np.random.default_rng(0).standard_normal((5, 6))
    probabilities = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    surprise = -np.log(probabilities[np.arange(5), ANSWERS])
    expected = {
        "sentence": (surprise[:3].mean() + surprise[3:].mean()) / 2,
        "token": surprise.mean(),
        "sum": surprise.sum() / 2,
    }
    predictions = Predictions(
        torch.from_numpy(logits).float(), torch.tensor(ANSWERS), torch.tensor(SENTENCE), 2
    )
    loss = TranslationLoss(mean)
    found = float(loss.total(predictions)) / loss.units(TARGET)
    assert found == pytest.approx(expected[mean], rel=1e-6)


def test_smoothing_spreads_a_part_of_the_target_evenly() -> None:
    """Szegedy et al. 2016, section 7: q'(k) = (1 - e) [k = y] + e / V."""
    logits = np.random.default_rng(0).standard_normal((5, 6))
    logp = np.log(np.exp(logits) / np.exp(logits).sum(1, keepdims=True))
    wanted = np.full((5, 6), 0.1 / 6)
    wanted[np.arange(5), ANSWERS] += 0.9
    predictions = Predictions(
        torch.from_numpy(logits).float(), torch.tensor(ANSWERS), torch.tensor(SENTENCE), 2
    )
    found = float(TranslationLoss("token", 0.1).total(predictions))
    assert found == pytest.approx(-(wanted * logp).sum(), rel=1e-6)
