"""The STS benchmark and the sets of SemEval."""

from pathlib import Path

import pytest

from service.errors import InputError
from training.data.labelled import ScoredPair
from training.data.lines import BrokenLines
from training.data.similarity import read_semeval_sts, read_sts_benchmark


def test_sts_benchmark_is_tabs_without_quoting(tmp_path: Path) -> None:
    path = tmp_path / "sts-dev.csv"
    path.write_text(
        'main-captions\tMSRvid\t2012test\t0000\t5.000\tA "man" runs.\tA man is running.\n'
        "main-news\theadlines\t2013\t0007\t0.25\tOne\tTwo\tsource a\tsource b\n"
    )
    assert list(read_sts_benchmark(path, BrokenLines())) == [
        ScoredPair('A "man" runs.', "A man is running.", 5.0),
        ScoredPair("One", "Two", 0.25),
    ]


@pytest.mark.parametrize("line", ["a\tb\tc", "g\tf\ty\t1\thigh\ta\tb", "g\tf\ty\t1\t7\ta\tb"])
def test_broken_lines_are_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "sts.csv"
    path.write_text(f"{line}\ng\tf\ty\t1\t2\ta\tb\n")
    with pytest.raises(InputError, match=r"sts\.csv:1: "):
        list(read_sts_benchmark(path, BrokenLines("refuse")))
    broken = BrokenLines("skip")
    assert len(list(read_sts_benchmark(path, broken))) == 1
    assert broken.count == 1


def test_semeval_pairs_without_a_judgement_are_left_out(tmp_path: Path) -> None:
    pairs = tmp_path / "STS.input.headlines.txt"
    pairs.write_text("One\tTwo\nThree\tFour\nFive\tSix\n")
    (tmp_path / "STS.gs.headlines.txt").write_text("4.2\n\n0\n")
    assert list(read_semeval_sts(pairs, BrokenLines())) == [
        ScoredPair("One", "Two", 4.2),
        ScoredPair("Five", "Six", 0.0),
    ]


def test_semeval_files_of_unequal_length_are_left_out_whole(tmp_path: Path) -> None:
    pairs = tmp_path / "STS.input.x.txt"
    pairs.write_text("One\tTwo\nThree\tFour\n")
    (tmp_path / "STS.gs.x.txt").write_text("4.2\n")
    broken = BrokenLines("skip")
    assert not list(read_semeval_sts(pairs, broken))
    assert broken.count == 2
