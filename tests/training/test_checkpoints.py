"""Checkpoint files."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from service.errors import StorageError
from training.checkpoints import load_checkpoint, random_state, save_checkpoint, set_random_state


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "a.pt", {"weights": torch.ones(2), "steps": [1, 2.5, None]})
    loaded = load_checkpoint(tmp_path / "a.pt")
    assert loaded is not None
    assert loaded["steps"] == [1, 2.5, None]
    assert load_checkpoint(tmp_path / "none.pt") is None


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pt").write_bytes(b"no checkpoint")
    with pytest.raises(StorageError, match="damaged"):
        load_checkpoint(tmp_path / "a.pt")


def test_a_full_disk_leaves_the_checkpoint_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_checkpoint(tmp_path / "a.pt", {"step": 1})

    def half(content: object, path: Path) -> None:
        path.write_text("half")
        raise RuntimeError("unexpected pos 704 vs 598")

    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(StorageError, match="cannot be written"):
        save_checkpoint(tmp_path / "a.pt", {"step": 2})
    assert load_checkpoint(tmp_path / "a.pt") == {"step": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["a.pt"]


class _Code:
    def __reduce__(self) -> tuple[object, ...]:
        return print, ("run",)


def test_a_file_with_code_in_it_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.save({"weights": _Code()}, tmp_path / "a.pt")
    with pytest.raises(StorageError):
        load_checkpoint(tmp_path / "a.pt")
    assert capsys.readouterr().out == ""


def test_random_numbers_go_on() -> None:
    state = random_state()
    first = torch.rand(3)
    set_random_state(state)
    assert torch.equal(torch.rand(3), first)
