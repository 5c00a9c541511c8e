"""Pairs of sentences that people have scored."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from service.errors import InputError
from training.data.folder import DataFolder
from training.data.scored_pairs import (
    ScoredPairs,
    load_scored_pairs,
    read_scored_pairs,
    save_scored_pairs,
)
from training.progress import Progress


def write(root: Path, name: str, *rows: str, header: str = "sentence1\tsentence2\tscore") -> None:
    path = root / "eval" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in (header, *rows)), encoding="utf-8")


def read(root: Path, *, languages: tuple[str, ...] = ("ja", "ko")) -> list[ScoredPairs]:
    return read_scored_pairs(DataFolder(root), "sts", languages=languages, evaluation=("sts",))


def test_training_files_are_read_by_language(tmp_path: Path) -> None:
    write(tmp_path, "sts/ja.jsts_train.tsv", "犬\t猫\t1.5", "犬\t犬だ\t4")
    write(tmp_path, "sts/ko.train.tsv", "개\t고양이\t0", "말\t소\t2")
    write(tmp_path, "sts/fa.train.tsv", "سگ\tگربه\t0", "سگ\tسگ\t5")
    assert read(tmp_path) == [
        ScoredPairs("sts", "ja", ["犬", "犬"], ["猫", "犬だ"], [1.5, 4.0]),
        ScoredPairs("sts", "ko", ["개", "말"], ["고양이", "소"], [0.0, 2.0]),
    ]


@pytest.mark.parametrize("measured", ["The dog!", "a  CAT"])
def test_pairs_of_sentences_that_are_measured_on_are_left_out(
    tmp_path: Path, measured: str
) -> None:
    write(tmp_path, "sts/en.train.tsv", "the dog\tA cat.\t1", "A horse\tA cow\t2", "x y\tz\t3")
    write(tmp_path, "sts/ko.dev.tsv", f"{measured}\tanother\t5")
    said = io.StringIO()
    (found,) = read_scored_pairs(
        DataFolder(tmp_path), "sts", languages=("en",), evaluation=("sts",), progress=Progress(said)
    )
    assert found.first == ["A horse", "x y"]
    assert "2 pairs with scores; 1 left out" in said.getvalue()


def test_without_a_training_file_there_are_none(tmp_path: Path) -> None:
    write(tmp_path, "sts/ja.dev.tsv", "犬\t猫\t1")
    assert read(tmp_path) == []


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (("a\tb\tmuch", "c\td\t1"), "no number"),
        (("a\tb\tnan", "c\td\t1"), "not two different numbers"),
        (("a\tb\t1", "c\td\t1"), "not two different numbers"),
    ],
)
def test_scores_that_say_nothing_are_refused(
    tmp_path: Path, rows: tuple[str, ...], said: str
) -> None:
    write(tmp_path, "sts/ja.train.tsv", *rows)
    with pytest.raises(InputError, match=said):
        read(tmp_path)


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    pairs = [ScoredPairs("sts", "ja", ["犬"], ["猫"], [1.5])]
    save_scored_pairs(pairs, tmp_path / "scored.json")
    assert load_scored_pairs(tmp_path / "scored.json") == pairs
