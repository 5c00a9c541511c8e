"""The folders of SentEval, on files of the exact format."""

from pathlib import Path

import pytest

from service.errors import InputError
from training.data.labelled import LabelledPair, LabelledText, ScoredPair
from training.data.lines import BrokenLines
from training.data.senteval import (
    read_class_files,
    read_mrpc,
    read_sick_entailment,
    read_sick_relatedness,
    read_sst,
    read_trec,
)


def write(path: Path, content: str, encoding: str = "utf-8") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode(encoding))


def test_a_file_a_class_in_latin_1(tmp_path: Path) -> None:
    write(
        tmp_path / "MR" / "rt-polarity.pos", "a tour de force \nclichéd \x85 but fun\n", "latin-1"
    )
    write(tmp_path / "MR" / "rt-polarity.neg", "dull\n\n")
    assert list(read_class_files(tmp_path, "MR")) == [
        LabelledText("a tour de force", "positive"),
        LabelledText("clichéd \x85 but fun", "positive"),
        LabelledText("dull", "negative"),
    ]
    with pytest.raises(InputError, match="cannot be read"):
        list(read_class_files(tmp_path, "CR"))


def test_sst_binary_and_fine(tmp_path: Path) -> None:
    write(tmp_path / "SST/binary/sentiment-dev", "it 's fun\t1\nno\t0\n")
    write(tmp_path / "SST/fine/sentiment-dev", "3 it 's fun\n0 no\n")
    assert list(read_sst(tmp_path, "dev", BrokenLines())) == [
        LabelledText("it 's fun", "1"),
        LabelledText("no", "0"),
    ]
    assert list(read_sst(tmp_path, "dev", BrokenLines(), fine=True)) == [
        LabelledText("it 's fun", "3"),
        LabelledText("no", "0"),
    ]


def test_trec_keeps_the_coarse_label(tmp_path: Path) -> None:
    write(tmp_path / "TREC/TREC_10.label", "NUM:dist How far is it ?\nHUM:ind Who ?\n")
    assert list(read_trec(tmp_path, "test", BrokenLines())) == [
        LabelledText("How far is it ?", "NUM"),
        LabelledText("Who ?", "HUM"),
    ]


def test_mrpc_has_a_header_with_a_mark(tmp_path: Path) -> None:
    header = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    write(
        tmp_path / "MRPC/msr_paraphrase_train.txt", header + '1\t7\t8\tHe said "no".\tHe refused.\n'
    )
    assert list(read_mrpc(tmp_path, "train", BrokenLines())) == [
        LabelledPair('He said "no".', "He refused.", "1")
    ]


def test_sick_both_ways(tmp_path: Path) -> None:
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    write(tmp_path / "SICK/SICK_trial.txt", header + "4\tA dog runs\tA cat runs\t3.5\tNEUTRAL\n")
    assert list(read_sick_relatedness(tmp_path, "dev", BrokenLines())) == [
        ScoredPair("A dog runs", "A cat runs", 3.5)
    ]
    assert list(read_sick_entailment(tmp_path, "dev", BrokenLines())) == [
        LabelledPair("A dog runs", "A cat runs", "neutral")
    ]


def test_broken_lines_are_counted(tmp_path: Path) -> None:
    write(tmp_path / "SST/binary/sentiment-test", "good\t2\nno label\nfine\t1\n")
    write(tmp_path / "TREC/train_5500.label", "WHAT:x Why ?\nNUM:dist\nLOC:city Where ?\n")
    broken = BrokenLines("skip")
    assert len(list(read_sst(tmp_path, "test", broken))) == 1
    assert broken.count == 2
    assert len(list(read_trec(tmp_path, "train", broken))) == 1
    assert broken.count == 4
    with pytest.raises(InputError, match=r"sentiment-test:1: "):
        list(read_sst(tmp_path, "test", BrokenLines("refuse")))
