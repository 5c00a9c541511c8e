"""Sentences that differ in one thing: the comparisons, and what the file holds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from service.errors import InputError
from service.inference.session import Vectors
from service.inference.vectors import normalise
from tests.training.evaluation.known_vectors import KnownVectors
from training.data.folder import open_folder
from training.data.lines import BrokenLines
from training.data.tsv import read_header, read_tsv
from training.evaluation.contrast import Contrast, told_apart

FILE = Contrast().path


def unit(*rows: tuple[float, float]) -> Vectors:
    return normalise(np.array(rows, dtype=np.float32))


def test_four_comparisons_by_hand() -> None:
    english = unit((1, 0), (0, 1))
    assert told_apart(unit((1, 0.1), (0.1, 1)), english).tolist() == [[True] * 4]
    assert told_apart(unit((0.1, 1), (1, 0.1)), english).tolist() == [[False] * 4]
    # Both sides are nearer to the first English sentence; the second less so than the first.
    found = told_apart(unit((1, 0.1), (1, 0.5)), english)
    assert found.tolist() == [[True, False, True, True]]
    # Who tells the sides of no pair apart is right in none.
    assert not told_apart(unit((1, 1), (1, 1)), english).any()


def test_the_file_has_every_kind_in_every_language_and_no_sentence_twice() -> None:
    header = list(read_header(FILE))
    assert header == ["kind", "item", "side", "en", "de", "fr", "es", "it", "ru", "zh", "ja"]
    rows = list(read_tsv(FILE, header, BrokenLines("refuse")))
    assert [row[2] for row in rows] == ["a", "b"] * (len(rows) // 2)
    kinds = Counter(row[0] for row in rows[::2])
    assert kinds == {"order": 7, "number": 7, "negation": 7, "entity": 7}
    assert len(rows) // 2 * (len(header) - 3) >= 200
    for column in range(3, len(header)):
        assert len({row[column] for row in rows}) == len(rows)


def test_a_model_that_knows_translations_is_always_right(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(
        "kind\titem\tside\ten\tde\norder\t1\ta\tone\teins\norder\t1\tb\ttwo\tzwei\n"
        "number\t2\ta\tthree\tdrei\nnumber\t2\tb\tfour\tvier\n",
        encoding="utf-8",
    )
    sense = {"one": 0, "eins": 0, "two": 1, "zwei": 1, "three": 2, "vier": 2, "four": 3, "drei": 3}
    model = KnownVectors({text: np.eye(4, dtype=np.float32)[i] for text, i in sense.items()})
    order, number = Contrast(path=path, languages=("de",)).measure(model, lambda: open_folder(None))
    assert (order.metric, order.value) == ("order, told apart, %", 100.0)
    assert (number.metric, number.by_language) == ("number, told apart, %", {"de": 0.0})
    with pytest.raises(InputError, match="none of fi"):
        Contrast(path=path, languages=("fi",)).measure(model, lambda: open_folder(None))
    path.write_text("kind\titem\tside\ten\tde\norder\t1\ta\tone\teins\n", encoding="utf-8")
    with pytest.raises(InputError, match="a side without the other"):
        Contrast(path=path, languages=("de",)).measure(model, lambda: open_folder(None))
