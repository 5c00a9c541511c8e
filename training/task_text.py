"""The text of the multi-task dual encoder: corpus, tasks and vocabulary; and phases of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch.optim import Optimizer

from service.text.vocabulary import NgramTokenizer
from training.data.corpus import Corpus
from training.data.feature_tokens import FeatureTable, SentenceIds, tokenize_features
from training.data.task_batches import CycledTasks, TaskBatch, TaskRows
from training.development import HeldOutSearch
from training.loop import LoopOptions, Phase
from training.negatives import with_hard_negatives
from training.schedules import Constant
from training.served_vocabulary import ServedVocabulary
from training.shared_vocabulary import prepare_shared_tokens
from training.task_corpus import TRANSLATION, TaskCorpus
from training.tasks import MultiTask
from training.workspace import Workspace


@dataclass(frozen=True, slots=True)
class TaskText:
    """What such a system is trained on.

    Attributes:
        work: Where ids and mined negatives are kept.
        corpus: Parallel text and what was set aside of it.
        tasks: Sentences and examples of all tasks.
        vocabulary: Of all languages.
        longest: Words of a sentence.
    """

    work: Workspace
    corpus: Corpus
    tasks: TaskCorpus
    vocabulary: ServedVocabulary
    longest: int

    @property
    def translation(self) -> list[TaskRows]:
        """The translation tasks alone."""
        return [task for task in self.tasks.tasks if task.head == TRANSLATION]

    def ids(self) -> SentenceIds:
        """Return the ids of all sentences of all tasks."""
        texts, tokenizer = self.tasks.texts, self.vocabulary.tokenizer
        if not isinstance(tokenizer, NgramTokenizer):
            return prepare_shared_tokens(
                self.work, texts, self.vocabulary, longest=self.longest, name="task-tokens.npz"
            )
        self.work.progress.title(f"tokens: {len(texts):,} sentences to ids")
        return self.work.keep(
            "features.npz",
            lambda: tokenize_features(texts, tokenizer, longest=self.longest),
            save=FeatureTable.save,
            load=FeatureTable.load,
        )

    def with_hard_negatives(
        self, miner: MultiTask, *, count: int, pool: int, seed: int
    ) -> list[TaskRows]:
        """Return all tasks, those of translation with `count` hard negatives an example.

        Args:
            miner: Trained on translation ranking alone, on the workspace's device.
            count: Negatives of each pair.
            pool: Pairs among whose answers they are mined.
            seed: Of the pools.
        """
        return with_hard_negatives(
            self.work,
            miner.encoder,
            self.tasks,
            self.ids(),
            count=count,
            pool=pool,
            longest=self.longest,
            seed=seed,
        )

    def phase(
        self,
        system: MultiTask,
        tasks: Sequence[TaskRows],
        *,
        size: int,
        optimiser: Optimizer,
        options: LoopOptions,
        seed: int,
    ) -> Phase[TaskBatch]:
        """Return the training of `system` on `tasks` in turn, at a constant rate.

        Args:
            system: On its device.
            tasks: In the order in which they are cycled.
            size: Examples of a batch.
            optimiser: Of the system's weights.
            options: How long.
            seed: Of the batches.
        """
        return Phase(
            system=system,
            batches=CycledTasks(
                list(tasks), self.ids(), size=size, longest=self.longest, seed=seed
            ),
            optimisers=(optimiser,),
            schedule=Constant(),
            develop=HeldOutSearch(
                system.encoder, self.vocabulary.tokenizer, self.corpus.held_out, self.work.device
            ),
            options=options,
        )
