"""Conversations and running text, and the examples that are made of them."""

from pathlib import Path

import numpy as np
import pytest

from service.errors import InputError
from training.data.consecutive import neighbours, read_documents
from training.data.corpus import CorpusPlan, build_corpus
from training.data.dialogue import read_dialogue
from training.data.folder import DataFolder
from training.data.lines import BrokenLines
from training.data.template_tasks import write_template_tasks
from training.data.templates import write_template_folder
from training.task_corpus import TASKS, TaskCorpus, build_task_corpus


def test_dialogue_with_an_empty_side_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "en.train.tsv"
    path.write_text("input\tresponse\tsource\nHi\tHello\tx\nWell\t \tx\n")
    broken = BrokenLines("skip")
    assert list(read_dialogue(path, broken)) == [("Hi", "Hello")]
    assert broken.count == 1
    with pytest.raises(InputError, match=r"en\.train\.tsv:3: an empty side"):
        list(read_dialogue(path, BrokenLines("refuse")))


def test_documents_end_at_empty_lines(tmp_path: Path) -> None:
    path = tmp_path / "en.novels.txt"
    path.write_text("one\ntwo\nthree\n\n\nfour\nfive\nsix\nseven\n")
    documents = list(read_documents(path, BrokenLines()))
    assert documents == [["one", "two", "three"], ["four", "five", "six", "seven"]]
    assert [list(neighbours(d)) for d in documents] == [
        [("one", "two", "three")],
        [("four", "five", "six"), ("five", "six", "seven")],
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    root = tmp_path_factory.mktemp("templates")
    write_template_folder(root)
    write_template_tasks(root)
    return DataFolder(root)


def build(folder: DataFolder, held_out: frozenset[str] = frozenset()) -> TaskCorpus:
    plan = CorpusPlan(sources=("template_sentences",), languages=("en", "de"), partners=0)
    return build_task_corpus(
        build_corpus(folder, plan),
        folder,
        TASKS,
        pivot="en",
        held_out=held_out,
        broken=BrokenLines(),
    )


def test_six_tasks_for_a_pair_of_languages(folder: DataFolder) -> None:
    built = build(folder)
    assert [task.name for task in built.tasks] == [
        "translation de",
        "response en",
        "response de",
        "quick-thought en",
        "quick-thought de",
        "inference",
    ]
    assert [task.rows.shape[1] for task in built.tasks] == [2, 2, 2, 3, 3, 2]
    source, target = (built.texts[i] for i in built.tasks[0].rows[0])
    assert source.split()[0] in {"Die", "Der", "Ein", "Meine", "Ihre"}
    assert target.isascii()


def test_held_out_sentences_are_in_no_task_but_translation(folder: DataFolder) -> None:
    whole = build(folder)
    away = "".join(filter(str.isalpha, whole.texts[whole.tasks[1].rows[0, 0]])).casefold()
    for before, after in zip(whole.tasks, build(folder, frozenset({away})).tasks, strict=True):
        less = before.name in ("response en", "quick-thought en", "inference")
        assert (len(after.rows) < len(before.rows)) == less, before.name


def test_sentences_that_differ_in_punctuation_mean_the_same() -> None:
    corpus = TaskCorpus([])
    rows = corpus.rows([("Yes!", "yes"), ("no", "Yes!")], 2)
    np.testing.assert_array_equal(rows, [[0, 1], [2, 0]])
    assert corpus.meanings().tolist() == [0, 0, 1]


def test_tasks_are_read_as_they_were_written(folder: DataFolder, tmp_path: Path) -> None:
    built = build(folder)
    built.save(tmp_path / "tasks")
    again = TaskCorpus.load(tmp_path / "tasks")
    assert again.texts == built.texts
    assert again.number(built.texts[3]) == 3
    for one, other in zip(again.tasks, built.tasks, strict=True):
        assert (one.name, one.head, one.distinct) == (other.name, other.head, other.distinct)
        np.testing.assert_array_equal(one.rows, other.rows)
        np.testing.assert_array_equal(one.labels, other.labels)
