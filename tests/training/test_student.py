"""A student's terms, and that it comes nearer to its teacher."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import pearsonr
from torch import Tensor

from training.data.batches import Sentences
from training.data.scored_batches import ScoredBatch
from training.data.taught_batches import TaughtBatch
from training.encoders.bert import BertBody
from training.encoders.product_vectors import product_vectors
from training.encoders.settled import SettledLayers
from training.objectives.distillation import distance_to_teacher
from training.objectives.taught import teacher_ranking
from training.student import Student, StudentWeights

WEIGHTS = StudentWeights(distillation=10.0, ranking=1.0, nested=0.5, widths=(4, 2), temperature=0.1)


def make_batch(number: int = 0) -> TaughtBatch:
    torch.manual_seed(0)
    sentences = Sentences(torch.tensor([1, 2, 3, 4, 5, 6]), torch.tensor([2, 1, 3]))
    return TaughtBatch(sentences, torch.randn(3, 8), torch.randn(5, 8), number)


def make_student(weights: StudentWeights = WEIGHTS) -> Student:
    torch.manual_seed(1)
    vectors = np.random.default_rng(1).standard_normal((10, 8)).astype(np.float32)
    read = product_vectors(vectors, np.ones(10, dtype=np.int64), parts=4, seed=0)
    body = BertBody(layers=1, width=8, heads=2, inner=12, longest=4)
    return Student(SettledLayers(read, body, torch.randn(1, 8)), weights)


def test_terms_are_weighted_and_widths_take_turns() -> None:
    student, batch = make_student(), make_batch(number=1)
    vectors = student.encoder(batch.sentences)

    def ranking(width: int = 8) -> Tensor:
        targets, negatives = batch.targets[:, :width], batch.negatives[:, :width]
        return teacher_ranking(vectors[:, :width], targets, negatives, temperature=0.1)

    losses = student(batch)
    expected = {
        "distillation": 10 * distance_to_teacher(vectors, batch.targets),
        "ranking": ranking(),
        "nested": 0.5 * ranking(2),
    }
    assert losses.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(losses[name], value)


def test_a_term_without_weight_is_not_computed() -> None:
    losses = make_student(replace(WEIGHTS, nested=0.0))(make_batch())
    assert losses.keys() == {"distillation", "ranking"}


def test_scores_of_pairs_are_a_term_where_a_batch_has_any() -> None:
    student = make_student(replace(WEIGHTS, nested=0.0, scores=2.0))
    assert "scores" not in student(make_batch())
    # Four pairs: the first sentences, then the second ones.
    sentences = Sentences(torch.tensor([1, 2, 3, 4, 5, 6, 7, 8, 9]), torch.tensor([1] * 7 + [2]))
    scores = torch.tensor([4.0, 1.0, 0.0, 3.0])
    found = student(replace(make_batch(), scored=ScoredBatch(sentences, scores)))["scores"]
    vectors = student.encoder(sentences)
    cosines = (vectors[:4] * vectors[4:]).sum(1)
    expected = 2 * (1 - pearsonr(cosines.detach(), scores).statistic)
    assert found.item() == pytest.approx(expected, abs=1e-5)


def test_it_comes_nearer_to_its_teacher() -> None:
    student, batch = make_student(), make_batch()
    optimiser = torch.optim.Adam(student.parameters(), lr=0.02)
    before = student(batch)["distillation"].item()
    for _ in range(60):
        optimiser.zero_grad()
        torch.stack(list(student(batch).values())).sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    assert student(batch)["distillation"].item() < before / 3
