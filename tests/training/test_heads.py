"""Heads: what cannot be fitted."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from service.classification.head import read_head
from service.errors import InputError
from training.heads import HeadData, train_head
from training.progress import Progress


def _data(path: Path, *dev: Path) -> HeadData:
    return HeadData(paths=(path,), source="made", licence="CC0", attribution="nobody", dev=dev)


def _fit(tmp_path: Path, bundle: Path, rows: list[tuple[str, str]]) -> Path:
    path = tmp_path / "en.train.tsv"
    path.write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows))
    data = _data(path)
    train_head(bundle, data, tmp_path / "head", name="made", machine="here")
    return tmp_path / "head"


def test_two_labels_give_two_rows(tmp_path: Path, tiny_bundle: Path) -> None:
    rows = [(f"cat sleeps {n}", "cat") for n in range(8)]
    rows += [(f"fresh bread {n}", "bread") for n in range(8)]
    head = read_head(_fit(tmp_path, tiny_bundle, rows))
    assert head.labels == ("bread", "cat")
    assert head.weights.shape == (2, 16)
    assert head.manifest.data[0].attribution == "nobody"


def test_rows_that_contradict_others_are_left_out_and_counted(
    tmp_path: Path, tiny_bundle: Path
) -> None:
    rows = [f"{word} {n}\t{word}\n" for word in ("cat", "bread") for n in range(4)]
    path = tmp_path / "en.train.tsv"
    path.write_text("text\tlabel\n" + "".join([*rows, "cat 0\tbread\n"]))
    data = _data(path)
    said = io.StringIO()
    head = train_head(
        tiny_bundle, data, tmp_path / "head", name="made", machine="here", progress=Progress(said)
    )
    assert head.manifest.examples == 7
    assert "2 rows are left out" in said.getvalue()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "one")] * 9, "two are the least"),
        ([("a", "one"), ("b", "one"), ("c", "two")], "fewer than 2 examples"),
    ],
)
def test_too_few_labels_or_examples_are_refused(
    tmp_path: Path, tiny_bundle: Path, rows: list[tuple[str, str]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        _fit(tmp_path, tiny_bundle, rows)


def test_a_file_to_measure_on_without_the_labels_is_refused_before_the_fit(
    tmp_path: Path, tiny_bundle: Path
) -> None:
    (tmp_path / "en.train.tsv").write_text("text\tlabel\n" + "a\tx\nb\ty\n" * 4)
    (tmp_path / "de.dev.tsv").write_text("text\tlabel\na\tother\n")
    data = _data(tmp_path / "en.train.tsv", tmp_path / "de.dev.tsv")
    with pytest.raises(InputError, match=r"de\.dev\.tsv has no example with .* x, y"):
        train_head(tiny_bundle, data, tmp_path / "head", name="head", machine="made")
    assert not (tmp_path / "head").exists()


def test_files_to_measure_on_in_no_known_language_are_refused(
    tmp_path: Path, tiny_bundle: Path
) -> None:
    rows = "text\tlabel\n" + "a\tx\nb\ty\n" * 4
    for name in ("en.train.tsv", "topics.tsv"):
        (tmp_path / name).write_text(rows)
    data = _data(tmp_path / "en.train.tsv", tmp_path / "topics.tsv")
    with pytest.raises(InputError, match=r"language that the model knows: topics\.tsv"):
        train_head(tiny_bundle, data, tmp_path / "head", name="head", machine="made")
    assert not (tmp_path / "head").exists()


def test_text_in_no_known_language_is_refused(tmp_path: Path, tiny_bundle: Path) -> None:
    (tmp_path / "train.tsv").write_text("text\tlabel\n" + "a\tx\nb\ty\n" * 4)
    data = replace(_data(tmp_path / "train.tsv"), language="klingon")
    with pytest.raises(InputError, match=r"not trained on this language; it knows .*klingon"):
        train_head(tiny_bundle, data, tmp_path / "head", name="head", machine="made")
    assert not (tmp_path / "head").exists()


def test_pairs_give_a_head_of_pairs_that_is_measured_by_language(
    tmp_path: Path, tiny_bundle: Path
) -> None:
    cats, breads = ["The cat sleeps.", "The warm cat."], ["Fresh bread.", "Early bread."]
    rows = [
        f"{one}\t{other}\t{label}\n"
        for texts, others, label in ((cats, cats, "same"), (cats, breads, "other"))
        for one in texts
        for other in others
    ]
    for name in ("en.train.tsv", "de.dev.tsv", "xx.dev.tsv"):
        (tmp_path / name).write_text("premise\thypothesis\tlabel\n" + "".join(rows))
    with (tmp_path / "de.dev.tsv").open("a") as file:
        file.write("a\tb\tneither\n")  # a label that the head has not: left out
    data = _data(tmp_path / "en.train.tsv", tmp_path / "de.dev.tsv", tmp_path / "xx.dev.tsv")
    head = train_head(tiny_bundle, data, tmp_path / "head", name="made", machine="here")
    assert head.takes_pairs
    assert head.weights.shape == (2, 64)
    assert set(head.manifest.quality[0].by_language) == {"de"}
    assert head.manifest.quality[0].value > 80
    assert set(head.manifest.files) == {"head.safetensors"}  # no text is passed on
