"""A student's three terms, and that it comes nearer to its teacher."""

from __future__ import annotations

from dataclasses import replace

import torch

from training.data.batches import Sentences
from training.data.taught_batches import TaughtBatch
from training.encoders.static import StaticEncoder
from training.objectives.distillation import distance_to_teacher
from training.objectives.taught import teacher_ranking
from training.optimisers import RowAdam
from training.student import Student, StudentWeights

WEIGHTS = StudentWeights(distillation=10.0, ranking=1.0, nested=0.5, widths=(4, 2), temperature=0.1)


def make_batch(number: int = 0) -> TaughtBatch:
    torch.manual_seed(0)
    sentences = Sentences(torch.tensor([1, 2, 3, 4, 5, 6]), torch.tensor([2, 1, 3]))
    return TaughtBatch(sentences, torch.randn(3, 8), torch.randn(5, 8), number)


def make_student(weights: StudentWeights = WEIGHTS) -> Student:
    torch.manual_seed(1)
    return Student(StaticEncoder(torch.randn(10, 8)), weights)


def test_terms_are_weighted_and_widths_take_turns() -> None:
    student, batch = make_student(), make_batch(number=1)
    vectors = student.encoder(batch.sentences)
    losses = student(batch)
    expected = {
        "distillation": 10 * distance_to_teacher(vectors, batch.targets),
        "ranking": teacher_ranking(vectors, batch.targets, batch.negatives, temperature=0.1),
        "nested": 0.5
        * teacher_ranking(
            vectors[:, :2], batch.targets[:, :2], batch.negatives[:, :2], temperature=0.1
        ),
    }
    assert losses.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(losses[name], value)


def test_without_nesting_there_is_no_such_term() -> None:
    assert "nested" not in make_student(replace(WEIGHTS, nested=0.0))(make_batch())


def test_it_comes_nearer_to_its_teacher() -> None:
    student, batch = make_student(), make_batch()
    optimiser = RowAdam(student.parameters(), lr=0.05)
    before = student(batch)["distillation"].item()
    for _ in range(30):
        optimiser.zero_grad()
        torch.stack(list(student(batch).values())).sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    assert student(batch)["distillation"].item() < before / 3
