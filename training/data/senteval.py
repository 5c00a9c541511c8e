r"""The folders of SentEval (Conneau & Kiela 2018), as its download script lays them out.

| task | folder | files | a line |
|---|---|---|---|
| MR CR SUBJ MPQA | `MR` `CR` `SUBJ` `MPQA` | a file a class | a sentence, Latin-1 |
| SST2 SST5 | `SST/binary` `SST/fine` | `sentiment-train`, `-dev`, `-test` | sentence, tab, 0 or 1; or 0 .. 4, blank, sentence |
| TREC | `TREC` | `train_5500.label`, `TREC_10.label` | `NUM:dist How far ...`, Latin-1 |
| MRPC | `MRPC` | `msr_paraphrase_train.txt`, `_test.txt` | header; label, two ids, two sentences |
| SICK | `SICK` | `SICK_train.txt`, `_trial.txt`, `_test_annotated.txt` | header; id, two sentences, score 1 .. 5, label |

STS 2012-2016 and the STS benchmark are read by `training.data.similarity`.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from service.errors import InputError
from training.data.labelled import LabelledPair, LabelledText, ScoredPair
from training.data.lines import BrokenLines, read_lines
from training.data.tsv import read_tsv

ClassFiles = Literal["MR", "CR", "SUBJ", "MPQA"]
"""Tasks with a file a class."""

Split = Literal["train", "dev", "test"]

_CLASS_FILES = MappingProxyType(
    {
        "MR": {"positive": "rt-polarity.pos", "negative": "rt-polarity.neg"},
        "CR": {"positive": "custrev.pos", "negative": "custrev.neg"},
        "SUBJ": {"objective": "subj.objective", "subjective": "subj.subjective"},
        "MPQA": {"positive": "mpqa.pos", "negative": "mpqa.neg"},
    }
)

_TREC = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")

_TREC_FILES = MappingProxyType({"train": "train_5500.label", "test": "TREC_10.label"})

_SICK_FILES = MappingProxyType(
    {"train": "SICK_train.txt", "dev": "SICK_trial.txt", "test": "SICK_test_annotated.txt"}
)


def read_class_files(root: Path, task: ClassFiles) -> Iterator[LabelledText]:
    """Yield the sentences of MR, CR, SUBJ or MPQA; they have no splits (ten folds are made)."""
    for label, name in _CLASS_FILES[task].items():
        for line in _latin1(root / task / name):
            if line.strip():
                yield LabelledText(line.strip(), label)


def read_sst(
    root: Path, split: Split, broken: BrokenLines, *, fine: bool = False
) -> Iterator[LabelledText]:
    """Yield a split of the sentiment treebank: labels 0 and 1, or 0 .. 4 where `fine`."""
    path = root / "SST" / ("fine" if fine else "binary") / f"sentiment-{split}"
    labels = "01234" if fine else "01"
    for number, line in enumerate(read_lines(path, broken), start=1):
        if line is None:
            continue  # counted when it was read
        if fine:
            label, border, text = line.strip().partition(" ")
        else:
            text, border, label = line.strip().rpartition("\t")
        if not border or len(label) != 1 or label not in labels:
            broken.add(path, number, f"no sentence with a label of {', '.join(labels)}")
            continue
        yield LabelledText(text.strip(), label)


def read_trec(
    root: Path, split: Literal["train", "test"], broken: BrokenLines
) -> Iterator[LabelledText]:
    """Yield the questions of TREC with their coarse labels."""
    path = root / "TREC" / _TREC_FILES[split]
    for number, line in enumerate(_latin1(path), start=1):
        label, _, rest = line.strip().partition(":")
        question = rest.partition(" ")[2]
        if label not in _TREC or not question:
            broken.add(path, number, f"no `LABEL:detail question` of {', '.join(_TREC)}")
            continue
        yield LabelledText(question, label)


def read_mrpc(
    root: Path, split: Literal["train", "test"], broken: BrokenLines
) -> Iterator[LabelledPair]:
    """Yield the pairs of the Microsoft paraphrase corpus, labels 0 and 1."""
    path = root / "MRPC" / f"msr_paraphrase_{split}.txt"
    for number, line in enumerate(read_lines(path, broken), start=1):
        if line is None or number == 1:  # the header; its first name may begin with a mark
            continue
        columns = line.split("\t")
        if len(columns) != 5 or columns[0] not in ("0", "1"):
            broken.add(path, number, "no five columns with a label of 0 or 1 first")
            continue
        yield LabelledPair(columns[3].strip(), columns[4].strip(), columns[0])


def read_sick_relatedness(root: Path, split: Split, broken: BrokenLines) -> Iterator[ScoredPair]:
    """Yield the pairs of SICK with their relatedness, 1 .. 5."""
    path = root / "SICK" / _SICK_FILES[split]
    columns = ("sentence_A", "sentence_B", "relatedness_score")
    for number, (first, second, score) in enumerate(read_tsv(path, columns, broken), start=2):
        try:
            yield ScoredPair(first, second, float(score))
        except ValueError:
            broken.add(path, number, f"the score is {score!r}, not a number")


def read_sick_entailment(root: Path, split: Split, broken: BrokenLines) -> Iterator[LabelledPair]:
    """Yield the pairs of SICK with their label: entailment, neutral or contradiction."""
    path = root / "SICK" / _SICK_FILES[split]
    columns = ("sentence_A", "sentence_B", "entailment_judgment")
    for first, second, label in read_tsv(path, columns, broken):
        yield LabelledPair(first, second, label.lower())


def _latin1(path: Path) -> list[str]:
    """Return the lines of a file of SentEval that is not UTF-8; Latin-1 decodes any bytes."""
    try:
        # Not splitlines: byte 0x85, dots in other code pages, is a line end to Unicode.
        lines = path.read_bytes().decode("latin-1").split("\n")
        return lines[:-1] if lines[-1] == "" else lines
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}.") from error
