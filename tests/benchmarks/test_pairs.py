"""Sentence pairs are read as they stand, and cosines ranked as SciPy ranks them."""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from benchmarks.pairs import pairs_file, spearman


@pytest.mark.parametrize("compressed", [True, False])
def test_a_file_is_read_by_its_columns(tmp_path: Path, compressed: bool) -> None:
    path = tmp_path / "pairs.tsv"
    content = b'score\tsentence1\tsentence2\n4.5\tone "two\tthree\n'
    path.write_bytes(gzip.compress(content) if compressed else content)
    if compressed:
        path = path.rename(tmp_path / "pairs.tsv.gz")
    pairs = pairs_file(str(path))
    assert pairs.sides == (['one "two'], ["three"])
    assert pairs.scores.tolist() == [4.5]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("one\ttwo\t4.5\n", "the header lacks sentence1"),
        ("sentence1\tsentence2\tscore\na\tb\tmuch\n", "much"),
        ("sentence1\tsentence2\tscore\n", "no row"),
    ],
)
def test_another_file_is_refused_before_anything_runs(
    tmp_path: Path, content: str, said: str
) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(content)
    with pytest.raises(argparse.ArgumentTypeError, match=said):
        pairs_file(str(path))
    with pytest.raises(argparse.ArgumentTypeError, match=r"nothing\.tsv"):
        pairs_file(str(tmp_path / "nothing.tsv"))


def test_ties_share_their_rank_as_in_scipy() -> None:
    random = np.random.default_rng(0)
    first, second = random.standard_normal((2, 50, 4)).astype(np.float32)
    scores = random.integers(0, 5, 50).astype(np.float64)
    expected = spearmanr((first * second).sum(axis=1), scores).statistic
    assert spearman((first, second), scores) == pytest.approx(100 * expected, abs=1e-9)
