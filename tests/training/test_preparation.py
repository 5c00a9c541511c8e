"""The corpus that recipes begin with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from service.bundle.manifest import DataSource
from service.errors import InputError
from training.data.corpus import CorpusPlan
from training.data.folder import DataFolder
from training.preparation import joined, prepare_corpus
from training.workspace import Workspace

_PLAN = CorpusPlan(sources=("tatoeba",), languages=("de", "en"), partners=0)


def _write(root: Path, german: str, *, name: str = "tatoeba") -> None:
    source = root / "parallel" / name
    source.mkdir(parents=True, exist_ok=True)
    (source / "en.txt").write_text("The cat sleeps.\nThe dog barks.\n")
    (source / "de.txt").write_text(german)


def _prepare(root: Path, name: str, plan: CorpusPlan, *, research: bool = False) -> list[str]:
    work = Workspace(
        root / name,
        lambda: DataFolder(root / "data"),
        torch.device("cpu"),
        corpora=root / "corpora",
    )
    return prepare_corpus(work, plan, research=research).texts


def test_runs_share_a_corpus_where_text_and_plan_are_the_same(tmp_path: Path) -> None:
    _write(tmp_path / "data", "Die Katze schläft.\nDer Hund bellt.\n")

    def shared() -> int:
        return len([path for path in (tmp_path / "corpora").iterdir() if path.is_dir()])

    first = _prepare(tmp_path, "first", _PLAN)
    assert _prepare(tmp_path, "second", replace(_PLAN, seed=1)) == first
    assert shared() == 1
    _prepare(tmp_path, "drawn", replace(_PLAN, partners=1, seed=1))
    assert shared() == 2
    _write(tmp_path / "data", "Die Katze ruht.\nDer Hund bellt.\n")
    assert "Die Katze ruht." in _prepare(tmp_path, "changed", _PLAN)
    assert shared() == 3


def test_text_without_a_pair_is_refused_by_the_languages(tmp_path: Path) -> None:
    _write(tmp_path / "data", "Die Katze schläft.\nDer Hund bellt.\n")
    with pytest.raises(InputError, match="tatoeba have no pair of en, xx") as caught:
        _prepare(tmp_path, "run", replace(_PLAN, languages=("en", "xx")))
    assert caught.value.field == "languages"
    assert not (tmp_path / "run" / "cache").exists()


def test_what_research_may_read_is_not_shared_with_what_ships(tmp_path: Path) -> None:
    _write(tmp_path / "data", "Die Katze schläft.\nDer Hund bellt.\n", name="multi30k")
    plan = replace(_PLAN, sources=("multi30k",))
    assert _prepare(tmp_path, "research", plan, research=True)
    with pytest.raises(InputError, match="multi30k"):
        _prepare(tmp_path, "ships", plan)


def test_sources_of_two_trainings_are_named_once_with_the_larger_count() -> None:
    def source(name: str, pairs: int) -> DataSource:
        return DataSource(name=name, licence="CC0", attribution="us", sentence_pairs=pairs)

    before, now = (source("news", 5), source("words", 7)), (source("news", 9), source("talk", 2))
    assert joined(before, now) == (source("news", 9), source("words", 7), source("talk", 2))
    assert joined(now, before)[0] == source("news", 9)
    assert joined((), now) == now
