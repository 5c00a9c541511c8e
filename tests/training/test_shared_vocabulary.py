"""One vocabulary of words or of pieces."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from service.bundle.manifest import TokenizerEntry
from service.text.tokenizer import load_tokenizer
from tests.training.made import make_corpus
from training.data.folder import open_folder
from training.shared_vocabulary import (
    Unit,
    prepare_shared_tokens,
    prepare_shared_vocabulary,
    unit_plan,
)
from training.workspace import Workspace


@pytest.mark.parametrize(("unit", "size"), [("words", 1000), ("pieces", 20)])
def test_it_is_what_the_bundle_will_hold(tmp_path: Path, unit: Unit, size: int) -> None:
    work = Workspace(tmp_path, lambda: open_folder(None), torch.device("cpu"))
    corpus = make_corpus({"de": 30, "fr": 20})
    vocabulary = prepare_shared_vocabulary(work, corpus, unit_plan(unit, size=size, seed=0))
    assert vocabulary.size == len(vocabulary.units) <= size + 2
    file = tmp_path / "tokenizer"
    file.write_bytes(vocabulary.file)
    served = load_tokenizer(TokenizerEntry(kind=vocabulary.kind, file="tokenizer"), file)
    tokens = prepare_shared_tokens(work, corpus.texts, vocabulary, longest=3)
    expected = served.encode(corpus.texts, max_tokens=3).tokens
    for row, ids in enumerate(expected):
        assert tokens.ids[tokens.offsets[row] : tokens.offsets[row + 1]].tolist() == ids
