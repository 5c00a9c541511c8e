"""The token table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from service.bundle.reader import read_bundle
from service.text.tokenizer import load_tokenizer
from training.data.tokens import TokenTable, tokenize


def test_the_table_holds_what_the_serving_tokenizer_says(tiny_bundle: Path) -> None:
    bundle = read_bundle(tiny_bundle)
    entry = bundle.manifest.encoders["*"]
    tokenizer = load_tokenizer(entry.tokenizer, bundle.tokenizer_path(entry))
    texts = ["The cat sleeps.", "", "猫は暖かい窓辺で眠っている。"]
    table = tokenize(texts, tokenizer, max_tokens=6)
    expected = tokenizer.encode(texts, max_tokens=6).tokens
    parts = np.split(table.ids, table.offsets[1:-1])
    assert [part.tolist() for part in parts] == expected
    assert table.lengths.tolist() == [len(tokens) for tokens in expected]


def test_gathering_repeats_reorders_and_cuts() -> None:
    table = TokenTable(np.arange(10, dtype=np.int32), np.array([0, 3, 3, 10]))
    ids, lengths = table.gather(np.array([2, 0, 1, 0]), longest=4)
    assert lengths.tolist() == [4, 3, 0, 3]
    assert ids.tolist() == [3, 4, 5, 6, 0, 1, 2, 0, 1, 2]


def test_saving_and_loading(tmp_path: Path) -> None:
    table = TokenTable(np.arange(5, dtype=np.int32), np.array([0, 2, 5]))
    table.save(tmp_path / "tokens")
    loaded = TokenTable.load(tmp_path / "tokens")
    assert np.array_equal(loaded.ids, table.ids)
    assert np.array_equal(loaded.offsets, table.offsets)
