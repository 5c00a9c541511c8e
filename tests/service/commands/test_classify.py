from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from service.classification.head import write_head
from service.cli import main
from service.inference.encoder import Encoder
from tests.service.classification.samples import LABELS, head_manifest

CAT, BREAD = "The cat sleeps on the warm windowsill.", "Fresh bread smells best."


@pytest.fixture
def head(tmp_path: Path, tiny_encoder: Encoder) -> Path:
    """`science` is the cat, `sport` the bread."""
    weights = 8 * tiny_encoder.encode([CAT, BREAD, "Rivers carry sand."])
    write_head(
        tmp_path / "head", head_manifest(), weights=weights, bias=np.zeros(3, dtype=np.float32)
    )
    return tmp_path / "head"


def _run(bundle: Path, *arguments: str, texts: str | None = None) -> Result:
    return CliRunner().invoke(main, ["classify", "--model", str(bundle), *arguments], input=texts)


def _rows(result: Result) -> list[list[dict[str, object]]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_line_of_labels_a_text(tiny_bundle: Path, head: Path) -> None:
    rows = _rows(_run(tiny_bundle, "--classifier", str(head), texts=f"{CAT}\n{BREAD}\n"))
    assert [row[0]["label"] for row in rows] == ["science", "sport"]
    (row,) = _rows(_run(tiny_bundle, "--classifier", str(head), "--top-k", "3", CAT))
    assert {hit["label"] for hit in row} == set(LABELS)


def test_documents_and_described_labels(tiny_bundle: Path, head: Path) -> None:
    document = f"{CAT} " * 40 + BREAD
    (row,) = _rows(_run(tiny_bundle, "--classifier", str(head), "--document", document))
    assert row[0]["label"] == "science"
    described = ("--label", "animals=cat, windowsill", "--label", "food=bread")
    rows = _rows(_run(tiny_bundle, *described, CAT, BREAD))
    assert [row[0]["label"] for row in rows] == ["animals", "food"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--classifier", "nope"), 1, "no shipped classifier"),
        (("--label", "a=b"), 2, "Two labels"),
        (("--label", "=b", "--label", "c"), 2, "LABEL=WORDS"),
        (("--label", "a", "--label", "b", "--classifier", "topic"), 2, "not both"),
    ],
)
def test_what_cannot_be_is_refused(
    tiny_bundle: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    result = _run(tiny_bundle, *arguments, "text")
    assert result.exit_code == code
    assert said in result.stderr
