"""Tasks take turns, and a run can be gone on with."""

import numpy as np
import pytest
import torch

from service.errors import InputError
from training.data.task_batches import CycledTasks, TaskBatch, TaskRows
from training.data.tokens import TokenTable

# Sentence i is the one word i + 1.
IDS = TokenTable(np.arange(1, 61, dtype=np.int32), np.arange(61))
TRANSLATION = TaskRows("translation de", "translation", np.arange(20).reshape(10, 2))
INFERENCE = TaskRows(
    "inference",
    "inference",
    np.array([[30, 31], [30, 32], [30, 33], [34, 35]]),
    np.array([0, 1, 2, 1]),
    distinct=False,
)
RESPONSE = TaskRows("response en", "response", np.array([[40, 41], [42, 41], [43, 44]]))


def make(*tasks: TaskRows, size: int = 4) -> CycledTasks:
    return CycledTasks(
        tasks or (TRANSLATION, INFERENCE, RESPONSE), IDS, size=size, longest=5, seed=1
    )


def sides(batch: TaskBatch) -> list[list[int]]:
    """Return the sentence numbers of each example."""
    numbers = (batch.sentences.ids - 1).reshape(batch.sides, -1)
    rows: list[list[int]] = numbers.T.tolist()
    return rows


def test_each_task_in_turn() -> None:
    batches = make()
    assert [batches.draw().task for _ in range(6)] == [*batches.names] * 2


def test_a_round_has_every_example_once_in_another_order_each_time() -> None:
    batches = make(TRANSLATION)
    rounds = [[row for _ in range(3) for row in sides(batches.draw())] for _ in range(2)]
    assert sorted(rounds[0]) == sorted(rounds[1]) == TRANSLATION.rows.tolist()
    assert rounds[0] != rounds[1]


def test_labels_stay_with_their_pairs() -> None:
    known = {
        tuple(row): label
        for row, label in zip(INFERENCE.rows.tolist(), INFERENCE.labels.tolist(), strict=True)
    }
    batch = make(INFERENCE).draw()
    assert len(batch.labels) == 4
    assert [known[(a, b)] for a, b in sides(batch)] == batch.labels.tolist()


def test_no_answer_comes_twice_where_answers_are_ranked() -> None:
    batch = make(RESPONSE).draw()
    answers = [answer for _, answer in sides(batch)]
    assert len(answers) == len(set(answers)) == 2


def test_goes_on_exactly_where_it_was() -> None:
    batches = make()
    for _ in range(7):
        batches.draw()
    state = batches.state_dict()
    expected = [batches.draw() for _ in range(9)]
    resumed = make()
    resumed.load_state_dict(state)
    for batch in expected:
        again = resumed.draw()
        assert again.task == batch.task
        assert torch.equal(again.sentences.ids, batch.sentences.ids)
        assert torch.equal(again.labels, batch.labels)


def test_tasks_without_examples_are_refused() -> None:
    with pytest.raises(InputError, match="no examples for any task"):
        CycledTasks((), IDS, size=4, longest=5, seed=1)
    with pytest.raises(InputError, match="no examples for empty"):
        make(TaskRows("empty", "response", np.empty((0, 2), dtype=np.int64)))
