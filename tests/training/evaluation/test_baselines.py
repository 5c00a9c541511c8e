"""Baselines: Dice by hand, and what majority and glosses reach on made-up text."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.errors import InputError
from tests.training.evaluation.known_vectors import KnownVectors, write_nway, write_tsv
from training.evaluation.baselines import Baseline, dice_dictionary

ENGLISH = ["the ball flies", "the law passes", "the ball and the law", "a ball", "a law"]
GERMAN = ["der Ball fliegt", "das Gesetz gilt", "der Ball und das Gesetz", "ein Ball", "ein Gesetz"]


def test_a_word_means_what_it_shares_most_pairs_with() -> None:
    dictionary = dice_dictionary(zip(GERMAN, ENGLISH, strict=True))
    # Ball and ball: in 3 pairs each, all shared, 2 * 3 / 6; Ball and the: 2 * 2 / 6.
    assert dictionary["ball"] == "ball"
    assert dictionary["gesetz"] == "law"
    assert "fliegt" not in dictionary  # one pair is too few


def test_majority_and_glossed(tmp_path: Path) -> None:
    write_nway(tmp_path, "news", {"en": ENGLISH, "de": GERMAN})
    english = [("the ball and a ball", "sports"), ("a law the law", "politics")] * 4
    german = [("der Ball der Ball", "sports"), ("das Gesetz", "politics")] * 3
    german += [("ein Ball", "sports")] * 2
    write_tsv(tmp_path, "topics/en.train.tsv", ("text", "label"), english)
    folder = write_tsv(tmp_path, "topics/de.train.tsv", ("text", "label"), german)
    model = KnownVectors({"x": [0.0]})
    plan = {"sets": ("topics",), "sources": ("news",)}
    (majority,) = Baseline(kind="majority", **plan).measure(model, lambda: folder)  # type: ignore[arg-type]
    assert majority.matrix["en"]["de"] == pytest.approx(100 * 5 / 8)
    (glossed,) = Baseline(kind="glossed", **plan).measure(model, lambda: folder)  # type: ignore[arg-type]
    assert glossed.matrix["en"]["de"] == 100
    with pytest.raises(InputError, match="no pairs"):
        Baseline(kind="glossed", sets=("topics",), sources=()).measure(model, lambda: folder)
