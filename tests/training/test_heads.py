"""Heads: what cannot be fitted."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.classification.head import read_head
from service.errors import InputError
from training.heads import HeadData, train_head


def _fit(tmp_path: Path, bundle: Path, rows: list[tuple[str, str]]) -> Path:
    path = tmp_path / "en.train.tsv"
    path.write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows))
    data = HeadData(path=path, source="made", licence="CC0", attribution="nobody")
    train_head(bundle, data, tmp_path / "head", name="made", machine="here")
    return tmp_path / "head"


def test_two_labels_give_two_rows(tmp_path: Path, tiny_bundle: Path) -> None:
    rows = [(f"cat sleeps {n}", "cat") for n in range(8)]
    rows += [(f"fresh bread {n}", "bread") for n in range(8)]
    head = read_head(_fit(tmp_path, tiny_bundle, rows))
    assert head.labels == ("bread", "cat")
    assert head.weights.shape == (2, 16)
    assert head.manifest.data[0].attribution == "nobody"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "one")] * 9, "two are the least"),
        ([("a", "one")] * 9 + [("b", "two")] * 2, "2 examples of a label"),
    ],
)
def test_too_few_labels_or_examples_are_refused(
    tmp_path: Path, tiny_bundle: Path, rows: list[tuple[str, str]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        _fit(tmp_path, tiny_bundle, rows)
