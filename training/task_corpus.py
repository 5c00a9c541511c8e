"""The sentences and examples of several tasks, from parallel text and the folder's other sets.

task                    where from
translation <lang>      pairs of the corpus with the pivot
response <lang>         eval/dialogue/<lang>.*.tsv
quick-thought <lang>    eval/consecutive/<lang>.*.txt
inference               eval/nli/<pivot>.*.tsv, *.jsonl
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.data.cleaning import comparison_key, to_nfc
from training.data.consecutive import neighbours, read_documents
from training.data.corpus import Corpus
from training.data.dialogue import read_dialogue
from training.data.folder import DataFolder, evaluation_sentences
from training.data.inference import LABELS, read_inference
from training.data.lines import BrokenLines, OnBroken
from training.data.task_batches import TaskRows
from training.workspace import Workspace

TRANSLATION, RESPONSE, QUICK_THOUGHT, INFERENCE = TASKS = (
    "translation",
    "response",
    "quick-thought",
    "inference",
)
"""Heads; a task is a head and, but for inference, a language."""

EVALUATION = ("tatoeba", "stsb", "xnli")
"""Sets of the folder that systems trained on these tasks are measured on."""


@dataclass(slots=True)
class TaskCorpus:
    """All sentences of all tasks, and the examples as rows of their numbers.

    Attributes:
        texts: One sentence each.
        tasks: In the order in which they are cycled.
    """

    texts: list[str]
    tasks: list[TaskRows] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        """Return the number of a sentence; a new one where it is not there yet."""
        composed = to_nfc(text)
        found = self._numbers.setdefault(composed, len(self.texts))
        if found == len(self.texts):
            self.texts.append(composed)
        return found

    def rows(self, examples: Iterable[tuple[str, ...]], sides: int) -> npt.NDArray[np.int64]:
        """Return examples as int64 [examples, sides]."""
        numbers = [[self.number(text) for text in example] for example in examples]
        return np.array(numbers, dtype=np.int64).reshape(-1, sides)

    def save(self, directory: Path) -> None:
        """Write everything into `directory`: numbers as npz, the rest as JSON."""
        directory.mkdir(parents=True, exist_ok=True)
        described = [[task.name, task.head, task.distinct] for task in self.tasks]
        (directory / "tasks.json").write_text(
            json.dumps({"texts": self.texts, "tasks": described}, ensure_ascii=False),
            encoding="utf-8",
        )
        arrays = chain.from_iterable((task.rows, task.labels) for task in self.tasks)
        np.savez(directory / "tasks.npz", *arrays)

    @classmethod
    def load(cls, directory: Path) -> TaskCorpus:
        """Read what `save` wrote."""
        described = json.loads((directory / "tasks.json").read_text(encoding="utf-8"))
        texts = described["texts"]
        with np.load(directory / "tasks.npz") as arrays:
            numbers = [arrays[f"arr_{place}"] for place in range(len(arrays))]
        tasks = [
            TaskRows(name, head, rows, labels, distinct)
            for (name, head, distinct), rows, labels in zip(
                described["tasks"], numbers[::2], numbers[1::2], strict=True
            )
        ]
        return cls(texts, tasks, {text: number for number, text in enumerate(texts)})

    def meanings(self) -> npt.NDArray[np.int64]:
        """Return int64 [sentences]: the same number where case and punctuation alone differ."""
        numbers: dict[str, int] = {}
        return np.array(
            [numbers.setdefault(comparison_key(text), len(numbers)) for text in self.texts],
            dtype=np.int64,
        )


def build_task_corpus(
    corpus: Corpus,
    folder: DataFolder,
    tasks: Sequence[str],
    *,
    pivot: str,
    held_out: frozenset[str],
    broken: BrokenLines,
) -> TaskCorpus:
    """Return the examples of `tasks`; a task for which there is no text is left out.

    Chidambaram et al. 2018, section 2.2: for one pair of languages six tasks, the first two kinds
    mirrored across languages, inference in English only.

    Args:
        corpus: Parallel text.
        folder: Its other sets.
        tasks: Of `TASKS`.
        pivot: The language that all others are paired with.
        held_out: Comparison keys of sentences that must not be trained on.
        broken: Takes the broken lines.
    """
    built = TaskCorpus([])
    languages = (pivot, *(name for name in corpus.languages if name != pivot))
    if TRANSLATION in tasks:
        for language in languages[1:]:
            built.tasks.append(_translation(built, corpus, language, pivot))
    for head, sides, read in ((RESPONSE, 2, _dialogue), (QUICK_THOUGHT, 3, _consecutive)):
        for language in languages if head in tasks else ():
            examples = _allowed(read(folder, language, broken), held_out)
            built.tasks.append(TaskRows(f"{head} {language}", head, built.rows(examples, sides)))
    if INFERENCE in tasks:
        built.tasks.append(_inference(built, folder, pivot, held_out, broken))
    built.tasks = [task for task in built.tasks if len(task.rows)]
    return built


def _translation(built: TaskCorpus, corpus: Corpus, language: str, pivot: str) -> TaskRows:
    """Return P(source | target): the input is the language's sentence, the answer the pivot's."""
    codes = corpus.languages.index(language), corpus.languages.index(pivot)
    pairs = corpus.pairs.astype(np.int64)
    chosen = pairs[(corpus.language[pairs] == codes).all(1)]
    examples = ((corpus.texts[a], corpus.texts[b]) for a, b in chosen.tolist())
    return TaskRows(f"{TRANSLATION} {language}", TRANSLATION, built.rows(examples, 2))


def _dialogue(folder: DataFolder, language: str, broken: BrokenLines) -> Iterable[tuple[str, ...]]:
    for path in folder.evaluation_files("dialogue", f"{language}.*tsv*"):
        yield from read_dialogue(path, broken)


def _consecutive(
    folder: DataFolder, language: str, broken: BrokenLines
) -> Iterable[tuple[str, ...]]:
    for path in folder.evaluation_files("consecutive", f"{language}.*txt*"):
        for document in read_documents(path, broken):
            yield from neighbours(document)


def _inference(
    built: TaskCorpus,
    folder: DataFolder,
    pivot: str,
    held_out: frozenset[str],
    broken: BrokenLines,
) -> TaskRows:
    paths = [
        path
        for pattern in (f"{pivot}.*tsv*", "*.jsonl*")
        for path in folder.evaluation_files("nli", pattern)
    ]
    examples = [
        (row.premise, row.hypothesis, row.label)
        for path in paths
        for row in read_inference(path, broken, language=pivot)
        if not {comparison_key(row.premise), comparison_key(row.hypothesis)} & held_out
    ]
    rows = built.rows(((premise, hypothesis) for premise, hypothesis, _ in examples), 2)
    labels = np.array([LABELS.index(label) for *_, label in examples], dtype=np.int64)
    return TaskRows(INFERENCE, INFERENCE, rows, labels, distinct=False)


def _allowed(
    examples: Iterable[tuple[str, ...]], held_out: frozenset[str]
) -> Iterable[tuple[str, ...]]:
    return (example for example in examples if not held_out & set(map(comparison_key, example)))


def prepare_task_corpus(
    work: Workspace, corpus: Corpus, tasks: Sequence[str], *, pivot: str, broken: OnBroken
) -> TaskCorpus:
    """Return the examples of `tasks` and say how many there are of each.

    Sentences that development or evaluation is measured on are left out of all tasks.
    """

    def make() -> TaskCorpus:
        folder = work.folder()
        away = (sentence for column in corpus.held_out.values() for sentence in column)
        evaluated = evaluation_sentences(folder, EVALUATION)
        held_out = frozenset(map(comparison_key, chain(away, evaluated))) - {""}
        lines = BrokenLines(broken, may_skip=True)
        built = build_task_corpus(
            corpus, folder, tasks, pivot=pivot, held_out=held_out, broken=lines
        )
        if lines.count:
            work.progress.note(f"{lines.count:,} broken lines skipped")
        return built

    work.progress.title("tasks: examples of each")
    built = work.keep("tasks", make, save=TaskCorpus.save, load=TaskCorpus.load)
    for task in built.tasks:
        work.progress.note(f"{task.name}: {len(task.rows):,} examples")
    return built
