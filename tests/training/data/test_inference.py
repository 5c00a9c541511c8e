"""SNLI, MultiNLI, XNLI and plain tables."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from service.errors import InputError
from training.data.inference import Inference, read_inference
from training.data.lines import BrokenLines


def snli(label: str, first: object = "A man eats.", second: str = "He sleeps.") -> str:
    """Return a line with the fields that SNLI and MultiNLI have."""
    row = {
        "annotator_labels": [label],
        "captionID": "1.jpg#0",
        "gold_label": label,
        "pairID": "1",
        "sentence1": first,
        "sentence1_binary_parse": "( )",
        "sentence2": second,
    }
    return json.dumps(row) + "\n"


def test_snli_without_majority_is_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "snli_1.0_dev.jsonl"
    path.write_text(snli("contradiction") + snli("-") + snli("neutral", "Ein Hund läuft."))
    left_out: Counter[str] = Counter()
    assert list(read_inference(path, BrokenLines(), left_out=left_out)) == [
        Inference("A man eats.", "He sleeps.", "contradiction"),
        Inference("Ein Hund läuft.", "He sleeps.", "neutral"),
    ]
    assert left_out == {"-": 1}


def test_xnli_by_language(tmp_path: Path) -> None:
    path = tmp_path / "xnli.dev.tsv.gz"
    header = "language\tgold_label\tsentence1_binary_parse\tsentence1\tsentence2\tpairID\n"
    rows = "de\tneutral\t\tEr sagte „ja“.\tEr kam.\t1\nfr\tentailment\t\tOui.\tSi.\t2\n"
    path.write_bytes(gzip.compress((header + rows).encode()))
    assert list(read_inference(path, BrokenLines(), language="de")) == [
        Inference("Er sagte „ja“.", "Er kam.", "neutral")
    ]
    assert len(list(read_inference(path, BrokenLines()))) == 2


def test_plain_tables_and_labels_of_other_sets(tmp_path: Path) -> None:
    path = tmp_path / "en.rte.tsv"
    path.write_text("premise\thypothesis\tlabel\na\tb\tentailment\nc\td\tnot_entailment\n")
    left_out: Counter[str] = Counter()
    assert len(list(read_inference(path, BrokenLines(), left_out=left_out))) == 1
    assert left_out == {"not_entailment": 1}


@pytest.mark.parametrize("line", ["{cut", "[1]", "{}", snli("neutral", first=3).strip(), "null"])
def test_broken_lines_are_named_or_counted(line: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(snli("neutral") + line + "\n" + snli("entailment"))
    with pytest.raises(InputError, match=r"a\.jsonl:2: no inference example"):
        list(read_inference(path, BrokenLines("refuse")))
    broken = BrokenLines("skip")
    assert len(list(read_inference(path, broken))) == 2
    assert broken.count == 1


def test_other_tables_are_refused_with_their_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("text\tlabel\nx\ty\n")
    with pytest.raises(InputError, match="columns text, label"):
        list(read_inference(path, BrokenLines()))
