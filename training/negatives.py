"""Hard negatives for the translation tasks, mined with a trained encoder."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from training.data.batches import Sentences
from training.data.feature_tokens import SentenceIds
from training.data.hard_negatives import mine_hard_negatives
from training.data.task_batches import TaskRows
from training.task_corpus import TRANSLATION, TaskCorpus
from training.workspace import Workspace

_BATCH = 256


def with_hard_negatives(
    work: Workspace,
    encoder: nn.Module,
    corpus: TaskCorpus,
    ids: SentenceIds,
    *,
    count: int,
    pool: int,
    longest: int,
    seed: int,
) -> list[TaskRows]:
    """Return the tasks of `corpus`, those of translation with `count` more sides.

    Args:
        work: Keeps what was mined.
        encoder: Sentences -> [B, D], trained on translation ranking alone.
        corpus: The tasks.
        ids: Of its sentences.
        count: Negatives of each pair.
        pool: Pairs among whose answers they are mined.
        longest: Words of a sentence.
        seed: Of the pools.
    """
    meanings = corpus.meanings()

    def mine(task: TaskRows) -> npt.NDArray[np.int64]:
        work.progress.title(f"hard negatives: {task.name}, {len(task.rows):,} pairs")
        answers = np.unique(task.rows[:, 1])
        vectors = encode_numbers(encoder, ids, answers, longest=longest, device=work.device)
        # Rows of answers alone, so that memory goes with them and not with all sentences.
        return mine_hard_negatives(
            task.rows, answers, vectors, meanings, count=count, pool=pool, seed=seed
        )

    tasks = []
    for task in corpus.tasks:
        if task.head == TRANSLATION:
            name = f"negatives-{task.name.replace(' ', '-')}.npy"
            mined = work.keep(name, partial(mine, task), save=_save, load=_load)
            task = replace(task, rows=np.concatenate([task.rows, mined], axis=1))
        tasks.append(task)
    return tasks


def encode_numbers(
    encoder: nn.Module,
    ids: SentenceIds,
    numbers: npt.NDArray[np.int64],
    *,
    longest: int,
    device: torch.device,
) -> npt.NDArray[np.float32]:
    """Return vectors float32 [numbers, D] of numbered sentences, as the encoder gives them."""
    encoder.eval()
    order = np.argsort(ids.lengths[numbers], kind="stable")
    found: list[npt.NDArray[np.float32]] = []
    with torch.inference_mode():
        for start in range(0, len(order), _BATCH):
            chosen = numbers[order[start : start + _BATCH]]
            sentences = Sentences.numbered(ids, chosen, longest=longest).to(device)
            found.append(encoder(sentences).float().cpu().numpy())
    vectors = np.concatenate(found)
    restored = np.empty_like(vectors)
    restored[order] = vectors
    return restored


def _save(negatives: npt.NDArray[np.int64], path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, negatives)


def _load(path: Path) -> npt.NDArray[np.int64]:
    negatives: npt.NDArray[np.int64] = np.load(path)
    return negatives
