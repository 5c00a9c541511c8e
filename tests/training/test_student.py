"""A student's three terms, and that it comes nearer to its teacher."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from scipy.stats import pearsonr
from torch import Tensor
from torch.nn import functional

from training.data.batches import Sentences
from training.data.scored_batches import ScoredBatch
from training.data.taught_batches import TaughtBatch
from training.encoders.bert import BertBody
from training.encoders.contextual import ContextualEncoder
from training.encoders.token_network import TokenNetwork
from training.objectives.distillation import distance_to_teacher
from training.objectives.taught import teacher_ranking
from training.optimisers import RowAdam
from training.student import Student, StudentWeights

WEIGHTS = StudentWeights(
    distillation=10.0, ranking=1.0, alone=0.3, nested=0.5, widths=(4, 2), temperature=0.1
)


def make_batch(number: int = 0) -> TaughtBatch:
    torch.manual_seed(0)
    sentences = Sentences(torch.tensor([1, 2, 3, 4, 5, 6]), torch.tensor([2, 1, 3]))
    return TaughtBatch(sentences, torch.randn(3, 8), torch.randn(5, 8), number)


def make_student(weights: StudentWeights = WEIGHTS) -> Student:
    torch.manual_seed(1)
    body = BertBody(layers=1, width=8, heads=2, inner=12, longest=4)
    return Student(ContextualEncoder(torch.randn(10, 8), TokenNetwork(8, 12), body), weights)


def test_terms_are_weighted_and_widths_take_turns() -> None:
    student, batch = make_student(), make_batch(number=1)
    layers, static = student.encoder.halves(batch.sentences)

    def ranking(vectors: Tensor, width: int = 8) -> Tensor:
        targets, negatives = batch.targets[:, :width], batch.negatives[:, :width]
        return teacher_ranking(vectors[:, :width], targets, negatives, temperature=0.1)

    losses = student(batch)
    expected = {
        "distillation": 10 * distance_to_teacher(layers + static, batch.targets),
        "ranking": ranking(layers + static),
        "alone": 0.3 * (10 * distance_to_teacher(layers, batch.targets) + ranking(layers)),
        "nested": 0.5 * ranking(layers + static, 2),
    }
    assert losses.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(losses[name], value)


def test_a_term_without_weight_is_not_computed() -> None:
    losses = make_student(replace(WEIGHTS, nested=0.0, alone=0.0))(make_batch())
    assert losses.keys() == {"distillation", "ranking"}


def test_scores_of_pairs_are_a_term_where_a_batch_has_any() -> None:
    student = make_student(replace(WEIGHTS, nested=0.0, alone=0.0, scores=2.0))
    assert "scores" not in student(make_batch())
    # Four pairs: the first sentences, then the second ones.
    sentences = Sentences(torch.tensor([1, 2, 3, 4, 5, 6, 7, 8, 9]), torch.tensor([1] * 7 + [2]))
    scores = torch.tensor([4.0, 1.0, 0.0, 3.0])
    found = student(replace(make_batch(), scored=ScoredBatch(sentences, scores)))["scores"]
    vectors = functional.normalize(sum(student.encoder.halves(sentences)), dim=1)  # type: ignore[arg-type]
    cosines = (vectors[:4] * vectors[4:]).sum(1)
    expected = 2 * (1 - pearsonr(cosines.detach(), scores).statistic)
    assert found.item() == pytest.approx(expected, abs=1e-5)


def test_it_comes_nearer_to_its_teacher() -> None:
    student, batch = make_student(), make_batch()
    optimiser = RowAdam([student.get_parameter("encoder.table")], lr=0.05)
    before = student(batch)["distillation"].item()
    for _ in range(30):
        optimiser.zero_grad()
        torch.stack(list(student(batch).values())).sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    assert student(batch)["distillation"].item() < before / 3
