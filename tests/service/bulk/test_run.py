"""Bulk encoding with a real encoder, real Parquet, and a real Ray cluster of this machine."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from service.bulk import engines
from service.bulk.engines import EncoderChoice
from service.bulk.items import Item
from service.bulk.run import Engine, Progress, embed_items
from service.cli import main
from service.errors import BackendError, InputError
from service.inference.encoder import Encoder
from service.inference.session import Vectors
from tests.tiny_bundle import DIMENSION, make_tiny_bundle

pytest.importorskip("pyarrow")

ITEMS = [Item(f"i{n}", f"word number {n} and {n % 7} more") for n in range(50)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_bundle(tmp_path_factory.mktemp("bundle") / "tiny")


def embed(
    model: Path, out: Path, items: list[Item] = ITEMS, engine: Engine | None = None
) -> Progress:
    return embed_items(items, out, choice=EncoderChoice(model), engine=engine, shard_rows=8)


def embed_command(model: Path, source: Path, out: Path, *, shard_rows: int) -> list[str]:
    return [
        sys.executable, "-c", "from service.cli import main; main()", "embed", str(source),
        "--out", str(out), "--model", str(model), "--shard-rows", str(shard_rows),
    ]  # fmt: skip


def files(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def read_shards(directory: Path) -> tuple[list[str], Vectors]:
    """Return all ids and vectors float32 [ids, dimensions] of a directory, in order."""
    parquet: Any = importlib.import_module("pyarrow.parquet")
    ids: list[str] = []
    parts = []
    for path in sorted(directory.glob("part-*.parquet")):
        table = parquet.read_table(path)
        ids += table["id"].to_pylist()
        column = table["vector"].combine_chunks()
        parts.append(column.flatten().to_numpy().reshape(len(table), -1))
    return ids, np.concatenate(parts)


def test_ids_and_vectors_come_in_order(model: Path, tmp_path: Path) -> None:
    progress = embed(model, tmp_path)
    assert (progress.encoded, progress.kept, progress.shards) == (50, 0, 7)
    ids, vectors = read_shards(tmp_path)
    assert ids == [item.id for item in ITEMS]
    expected = Encoder(model).encode([item.text for item in ITEMS])
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_finished_shards_are_kept(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed(model, tmp_path)
    before = files(tmp_path)
    (tmp_path / "part-000003.parquet").unlink()
    (tmp_path / "part-000005.parquet").write_bytes(b"cut")
    progress = embed(model, tmp_path)
    assert (progress.encoded, progress.kept) == (16, 34)
    assert files(tmp_path) == before

    def forbidden(*args: object) -> None:
        raise AssertionError("encoded again")

    monkeypatch.setattr(engines.Worker, "encode", forbidden)
    assert embed(model, tmp_path).kept == 50


def test_what_changed_is_encoded_again(model: Path, tmp_path: Path) -> None:
    embed(model, tmp_path)
    changed = [*ITEMS[:20], Item("i20", "another text"), *ITEMS[21:30]]
    progress = embed(model, tmp_path, changed)
    # The third shard changed, the fourth is shorter, and the last three are no more.
    assert (progress.encoded, progress.kept, progress.shards) == (14, 16, 4)
    assert read_shards(tmp_path)[0] == [item.id for item in changed]
    narrow = embed_items(changed, tmp_path, choice=EncoderChoice(model, dimensions=4), shard_rows=8)
    assert narrow.kept == 0
    assert read_shards(tmp_path)[1].shape == (30, 4)


def test_texts_of_another_language_are_encoded_again(model: Path, tmp_path: Path) -> None:
    embed(model, tmp_path)
    choice = EncoderChoice(model, language="de")
    again = [embed_items(ITEMS, tmp_path, choice=choice, shard_rows=8).kept for _ in range(2)]
    assert again == [0, 50]


def test_a_prompt_is_put_before_each_text(model: Path, tmp_path: Path) -> None:
    embed(model, tmp_path)
    choice = EncoderChoice(model, prompt="ask")
    assert embed_items(ITEMS, tmp_path, choice=choice, shard_rows=8).encoded == 50
    assert embed_items(ITEMS, tmp_path, choice=choice, shard_rows=8).kept == 50
    expected = Encoder(model).encode([f"question: {item.text}" for item in ITEMS])
    _, vectors = read_shards(tmp_path)
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    with pytest.raises(InputError, match="it has ask"):
        embed_items(ITEMS, tmp_path, choice=EncoderChoice(model, prompt="answer"))


def test_what_cannot_be_is_refused(model: Path, tmp_path: Path) -> None:
    for dimensions in (-1, 0, DIMENSION + 1):
        with pytest.raises(InputError) as caught:
            embed_items(ITEMS, tmp_path, choice=EncoderChoice(model, dimensions=dimensions))
        assert caught.value.field == "dimensions"
    with pytest.raises(InputError):
        embed_items(ITEMS, tmp_path, choice=EncoderChoice(model), shard_rows=0)


@pytest.mark.parametrize("workers", [0, -1])
def test_a_cluster_without_workers_is_refused_and_deletes_nothing(
    model: Path, tmp_path: Path, workers: int
) -> None:
    embed(model, tmp_path)
    finished = files(tmp_path)
    with pytest.raises(InputError) as caught:
        embed(model, tmp_path, [*ITEMS, Item("new", "text")], engine=Engine("ray", workers=workers))
    assert caught.value.field == "workers"
    assert files(tmp_path) == finished


def test_the_command_says_what_it_did(model: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_text("\n".join(item.text for item in ITEMS))
    command = ["embed", str(source), "--out", str(tmp_path / "out"), "--model", str(model)]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    assert "50 texts encoded, 0 kept" in done.output
    assert "0 texts encoded, 50 kept" in CliRunner().invoke(main, command).output
    assert CliRunner().invoke(main, ["embed", "--out", str(tmp_path)]).exit_code == 2
    missing = CliRunner().invoke(main, ["embed", "nowhere.txt", "--out", str(tmp_path / "x")])
    assert missing.exit_code == 1
    assert "nowhere.txt" in missing.output


def test_a_killed_run_goes_on(model: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "in.txt", tmp_path / "out"
    source.write_text("\n".join(f"{n} " + "many words here " * 20 for n in range(6_000)))
    command = embed_command(model, source, out, shard_rows=150)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(out.glob("part-*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = files(out)
    complete = {name for name in finished if name.startswith("part-")}
    assert 0 < len(complete) < 40
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{150 * len(complete)} kept" in done.stdout
    assert len(read_shards(out)[0]) == 6_000
    assert all(files(out)[name] == finished[name] for name in complete)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="the extra ray is missing")
def test_a_cluster_gives_the_same_bytes(model: Path, tmp_path: Path) -> None:
    embed(model, tmp_path / "local")
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(json.dumps({"id": i.id, "text": i.text}) for i in ITEMS))
    # In a process of its own: Ray forks, which threads of other tests' gRPC servers may stop.
    command = embed_command(model, source, tmp_path / "ray", shard_rows=8)
    command += ["--engine", "ray", "--workers", "2"]
    workers_import_from = {"PYTHONPATH": str(Path.cwd()), "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | workers_import_from, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "50 texts encoded, 0 kept" in done.stdout
    assert files(tmp_path / "ray") == files(tmp_path / "local")
    (tmp_path / "ray" / "part-000002.parquet").unlink()
    again = embed(model, tmp_path / "ray")  # an engine goes on where the other was stopped
    assert (again.encoded, again.kept) == (8, 42)
    assert files(tmp_path / "ray") == files(tmp_path / "local")


def test_a_cluster_that_does_not_start_is_said_so() -> None:
    class Cluster:
        ended = False

        def init(self, **_: object) -> None:
            raise Exception("The current node timed out during startup.")  # as Ray 2.60 raises it

        def shutdown(self) -> None:
            self.ended = True

    cluster = Cluster()
    with pytest.raises(BackendError, match=r"could be started here: .* timed out") as caught:
        engines._join(cluster, None)
    assert cluster.ended
    assert "--ray-address" in str(caught.value.remedy)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a", "--engine", "ray"], "--engine is of whole files: it needs --out"),
        (["a", "--workers", "2"], "--workers is of whole files"),
        (["a", "--shard-rows", "8192"], "--shard-rows is of whole files"),
        (["a", "--out", "vectors", "--workers", "2"], "add --engine ray"),
        (["a", "--out", "vectors", "--format", "npy"], "--format is of what is printed"),
    ],
)
def test_options_that_would_do_nothing_are_refused(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(main, ["embed", *arguments])
    assert result.exit_code == 2
    assert said in result.output


def test_vectors_of_files_are_for_no_pipe(model: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="into a directory"):
        embed(model, pipe)
