"""Batches of several tasks, one task each, in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from service.errors import InputError
from training.data.batches import CountedDraws, Sentences
from training.data.feature_tokens import SentenceIds


@dataclass(frozen=True, slots=True)
class TaskRows:
    """The examples of a task.

    Attributes:
        name: Of the task, with its language where it has one: `response de`.
        head: Name of the head that judges them; tasks of several languages share one.
        rows: int64 [examples, sides], sentence numbers.
        labels: int64 [examples], or [0] for tasks without.
        distinct: Whether the first two sides of a batch's examples must all differ, since each is
            a wrong answer to the others.
    """

    name: str
    head: str
    rows: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    distinct: bool = True


@dataclass(frozen=True, slots=True)
class TaskBatch:
    """B examples of one task.

    Attributes:
        task: Its name.
        head: Name of its head.
        sentences: What is ranked or classified: the B of one side, then those of the next, in the
            order that the head takes them.
        sides: How many.
        labels: int64 [B], or [0] for tasks without.
    """

    task: str
    head: str
    sentences: Sentences
    sides: int
    labels: Tensor

    @property
    def words(self) -> int:
        """Words of all sides."""
        return int(self.sentences.ids.shape[0])

    def to(self, device: torch.device) -> TaskBatch:
        """Return a copy on `device`."""
        sentences, labels = self.sentences.to(device), self.labels.to(device)
        return TaskBatch(self.task, self.head, sentences, self.sides, labels)


class CycledTasks(CountedDraws):
    """Draws a batch of each task in turn: "cycling through the different tasks".

    Chidambaram et al. 2018, section 3.2. Each task walks through its examples in an order that is a
    function of the seed and the round, so the number of batches drawn is all there is to keep.

    Args:
        tasks: In the order in which they take turns.
        ids: Of all sentences that the tasks name.
        size: Examples of a batch; a few fewer where a sentence would come twice.
        longest: Words of a sentence; what is longer is cut.
        seed: Of everything that is drawn.

    Raises:
        InputError: There is no task, or one has no example.
    """

    def __init__(
        self,
        tasks: Sequence[TaskRows],
        ids: SentenceIds,
        *,
        size: int,
        longest: int,
        seed: int,
    ) -> None:
        empty = [task.name for task in tasks if not len(task.rows)]
        if empty or not tasks:
            raise InputError(
                f"There are no examples for {', '.join(empty) or 'any task'}.",
                field="tasks",
                remedy="Add such text, or leave the task out.",
            )
        self._tasks = tuple(tasks)
        self._ids = ids
        self._size = size
        self._longest = longest
        self._seed = seed
        self._orders: dict[int, tuple[int, npt.NDArray[np.int64]]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The tasks in their order."""
        return tuple(task.name for task in self._tasks)

    def draw(self) -> TaskBatch:
        """Return the next batch."""
        turn, number = divmod(self._drawn, len(self._tasks))
        task = self._tasks[number]
        chosen = self._examples(number, turn)
        rows = task.rows[chosen]
        labels = task.labels[chosen] if len(task.labels) else task.labels
        self._drawn += 1
        return TaskBatch(
            task.name,
            task.head,
            Sentences.numbered(self._ids, rows.T.ravel(), longest=self._longest),
            rows.shape[1],
            torch.from_numpy(labels),
        )

    def _examples(self, number: int, turn: int) -> npt.NDArray[np.int64]:
        """Return the examples of the task's batch number `turn`."""
        task = self._tasks[number]
        a_round = -(-len(task.rows) // self._size)
        done, place = divmod(turn, a_round)
        if number not in self._orders or self._orders[number][0] != done:
            random = np.random.default_rng((self._seed, number, done))
            self._orders[number] = (done, random.permutation(len(task.rows)))
        chosen = self._orders[number][1][place * self._size : (place + 1) * self._size]
        if task.distinct:
            for side in (0, 1):
                chosen = chosen[np.sort(np.unique(task.rows[chosen, side], return_index=True)[1])]
        return chosen
