"""The directory of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from service.errors import ConflictError, InputError
from training import workspace
from training.checkpoints import save_checkpoint
from training.data.folder import DataFolder
from training.store import write_json
from training.workspace import LOCK_FILE, Workspace, claim, read_run, training_alone


def _work(directory: Path) -> Workspace:
    return Workspace(directory, lambda: DataFolder(directory), torch.device("cpu"))


def test_what_was_made_is_not_made_again(tmp_path: Path) -> None:
    made: list[int] = []

    def make() -> str:
        made.append(1)
        return "text"

    for _ in range(2):
        kept = _work(tmp_path).keep(
            "text", make, save=lambda text, path: _write(path, text), load=Path.read_text
        )
        assert kept == "text"
    assert made == [1]


def _write(path: Path, text: str) -> None:
    path.write_text(text)


def test_a_break_while_saving_leaves_nothing_behind(tmp_path: Path) -> None:
    def half(text: str, path: Path) -> None:
        path.write_text(text[:2])
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        _work(tmp_path).keep("text", lambda: "text", save=half, load=Path.read_text)
    kept = _work(tmp_path).keep(
        "text", lambda: "whole", save=lambda text, path: _write(path, text), load=Path.read_text
    )
    assert kept == "whole"


def test_a_run_is_gone_on_with_only_as_it_was_begun(tmp_path: Path) -> None:
    described = {"recipe": "fast", "parameters": {"steps": 5, "rate": 0.1}}
    claim(tmp_path / "run", described, fresh=False)
    claim(tmp_path / "run", described, fresh=False)
    assert read_run(tmp_path / "run") == described
    other = {"recipe": "fast", "parameters": {"steps": 6, "rate": 0.1}}
    with pytest.raises(ConflictError, match=r"differs in parameters\.steps"):
        claim(tmp_path / "run", other, fresh=False)
    claim(tmp_path / "run", other, fresh=True)
    assert read_run(tmp_path / "run") == other


def test_two_that_begin_one_directory_at_a_time_are_not_both_let_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine: dict[str, object] = {"recipe": "fast", "seed": 1}
    yours: dict[str, object] = {"recipe": "fast", "seed": 2}
    look = workspace._refuse_other_files

    def overtaken(directory: Path) -> None:
        """The other one begins its run after the directory was found to be free."""
        look(directory)
        monkeypatch.setattr(workspace, "_refuse_other_files", look)
        assert claim(directory, mine, fresh=False)

    monkeypatch.setattr(workspace, "_refuse_other_files", overtaken)
    with pytest.raises(ConflictError, match="differs in seed"):
        claim(tmp_path / "run", yours, fresh=False)
    assert read_run(tmp_path / "run") == mine


def test_a_run_that_was_begun_anew_by_another_command_is_not_trained(tmp_path: Path) -> None:
    mine: dict[str, object] = {"recipe": "fast", "seed": 1}
    claim(tmp_path / "run", mine, fresh=False)
    claim(tmp_path / "run", {"recipe": "fast", "seed": 2}, fresh=True)
    with (
        pytest.raises(ConflictError, match="differs in seed"),
        training_alone(tmp_path / "run", mine),
    ):
        pass


def test_the_lock_outlives_what_is_written_beside_it(tmp_path: Path) -> None:
    mine: dict[str, object] = {"recipe": "fast", "seed": 1}
    assert claim(tmp_path / "run", mine, fresh=False)
    with training_alone(tmp_path / "run", mine):
        write_json(tmp_path / "run" / "run.json", mine)
        with pytest.raises(ConflictError, match="Another process trains"):
            claim(tmp_path / "run", mine, fresh=True)
        assert not claim(tmp_path / "run", mine, fresh=False)  # to be exported, say
        with (
            pytest.raises(ConflictError, match="Another process trains"),
            training_alone(tmp_path / "run", mine),
        ):
            pass


def test_what_a_break_left_of_a_run_is_no_file_of_others(tmp_path: Path) -> None:
    (tmp_path / LOCK_FILE).touch()
    (tmp_path / ".run.json.77.part").write_text("{")
    assert claim(tmp_path, {"recipe": "fast"}, fresh=False)


def test_files_that_are_not_a_runs_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    for fresh in (False, True):
        with pytest.raises(ConflictError, match="not a run's"):
            claim(tmp_path, {"recipe": "fast"}, fresh=fresh)
    assert (tmp_path / "thesis.txt").read_text() == "mine"
    with pytest.raises(InputError, match="is no run"):
        read_run(tmp_path)


def test_to_begin_anew_deletes_the_run_alone(tmp_path: Path) -> None:
    claim(tmp_path, {"recipe": "fast", "seed": 1}, fresh=False)
    for name in ("cache/corpus", "train/metrics.jsonl", "bundle/bundle.json", "mine/thesis.txt"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("")
    (tmp_path / "seconds.json").write_text("7.0")
    claim(tmp_path, {"recipe": "fast", "seed": 2}, fresh=True)
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert left == [".lock", "mine", "mine/thesis.txt", "run.json"]
    assert read_run(tmp_path)["seed"] == 2


@pytest.mark.parametrize("content", ['{"project": "mine"}', "[]", "{"])
def test_a_run_file_of_another_program_is_left_alone(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    for fresh in (False, True):
        with pytest.raises(InputError, match="is no run"):
            claim(tmp_path, {"recipe": "fast"}, fresh=fresh)
    assert (tmp_path / "run.json").read_text() == content


def test_the_best_weights_come_before_the_last(tmp_path: Path) -> None:
    work = _work(tmp_path)
    with pytest.raises(InputError, match="no checkpoint"):
        work.trained("train")
    save_checkpoint(work.stage("train") / "checkpoint.pt", {"system": {"w": torch.zeros(1)}})
    assert work.trained("train")["w"].item() == 0.0
    save_checkpoint(work.stage("train") / "best.pt", {"system": {"w": torch.ones(1)}})
    assert work.trained("train")["w"].item() == 1.0


def test_runs_of_the_same_text_share_what_is_kept_within_a_folder(tmp_path: Path) -> None:
    made: list[int] = []

    def make() -> str:
        made.append(1)
        return "text"

    for name in ("first", "second"):
        kept = _work(tmp_path / name).keep(
            "text",
            make,
            save=lambda text, path: _write(path, text),
            load=Path.read_text,
            within=lambda: tmp_path / "shared",
        )
        assert kept == "text"
    assert made == [1]
    assert (tmp_path / "shared" / "text").read_text() == "text"
    (tmp_path / "shared" / "text").unlink()  # each has its own: it can be exported without them
    again = _work(tmp_path / "second").keep(
        "text", make, save=lambda text, path: _write(path, text), load=Path.read_text
    )
    assert (again, made) == ("text", [1])
