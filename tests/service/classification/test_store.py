from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from service.classification.classifiers import Classifiers
from service.classification.head import HEAD_FILE, WEIGHTS_FILE, Head, read_head, write_head
from service.classification.store import ClassifierStore
from service.errors import BundleError, ConflictError, InputError, NotFoundError
from tests.service.classification.samples import head_manifest


def _write(directory: Path, version: int, *, name: str = "things") -> Head:
    manifest = head_manifest(name=name, version=version)
    weights = np.full((len(manifest.labels), manifest.dimension), version, dtype=np.float32)
    return write_head(
        directory, manifest, weights=weights, bias=np.zeros(len(weights), dtype=np.float32)
    )


def test_versions_switch_and_the_old_one_stays_until_dropped(tmp_path: Path) -> None:
    classifiers = Classifiers([], ClassifierStore(tmp_path))
    for version in (1, 2):
        head = classifiers.add_version("things", _write)
        assert head.manifest.version == version
    assert classifiers.versions("things") == (1, 2)
    classifiers.activate("things", 1)
    assert Classifiers([], ClassifierStore(tmp_path)).get("things").manifest.version == 1
    with pytest.raises(ConflictError):
        classifiers.drop_version("things", 1)
    classifiers.drop_version("things", 2)
    assert classifiers.versions("things") == (1,)
    with pytest.raises(NotFoundError):
        classifiers.activate("things", 2)
    classifiers.drop("things")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("lost", ["current", "v2"])
def test_what_a_power_cut_took_leaves_the_version_before(tmp_path: Path, lost: str) -> None:
    classifiers = Classifiers([], ClassifierStore(tmp_path))
    for name in ("other", "things"):
        for _ in range(2):
            classifiers.add_version(name, partial(_write, name=name))
    if lost == "v2":
        (tmp_path / "things/v2" / WEIGHTS_FILE).write_bytes(b"")
    else:
        shutil.rmtree(tmp_path / "things/v2")  # `current` names it still
    again = Classifiers([], ClassifierStore(tmp_path))
    assert again.get("things").manifest.version == 1
    assert again.get("other").manifest.version == 2


def test_a_fit_that_fails_leaves_all_as_it_was(tmp_path: Path) -> None:
    classifiers = Classifiers([], ClassifierStore(tmp_path))
    classifiers.add_version("things", _write)

    def fail(directory: Path, version: int) -> Head:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        classifiers.add_version("things", fail)
    assert classifiers.versions("things") == (1,)
    assert classifiers.get("things").manifest.version == 1


def test_a_classifier_dropped_while_a_version_is_made_stays_dropped(tmp_path: Path) -> None:
    classifiers = Classifiers([], ClassifierStore(tmp_path))
    classifiers.add_version("things", _write)

    def drop_meanwhile(directory: Path, version: int) -> Head:
        classifiers.drop("things")
        return _write(directory, version)

    with pytest.raises(NotFoundError, match="things"):
        classifiers.add_version("things", drop_meanwhile)
    assert classifiers.list() == ()
    assert not list(tmp_path.iterdir())
    assert classifiers.add_version("things", _write).manifest.version == 1


def test_versions_made_at_the_same_time_are_two(tmp_path: Path) -> None:
    classifiers = Classifiers([], ClassifierStore(tmp_path))

    def make_another_meanwhile(directory: Path, version: int) -> Head:
        classifiers.add_version("things", _write)
        return _write(directory, version)

    classifiers.add_version("things", make_another_meanwhile)
    assert classifiers.versions("things") == (1, 2)
    assert classifiers.get("things").manifest.version == 1  # what ended last


def test_what_a_killed_process_left_is_cleared_away(tmp_path: Path) -> None:
    classifiers = Classifiers([], ClassifierStore(tmp_path))
    classifiers.add_version("things", _write)
    (tmp_path / "things" / ".v2-abc").mkdir()
    (tmp_path / "things" / ".v2-abc" / WEIGHTS_FILE).write_bytes(b"half")
    (tmp_path / "things" / ".current-2").write_text("2")
    _write(tmp_path / "things" / "v2", 2)  # whole, but never made current
    (tmp_path / ".gone-dropped").mkdir()
    (tmp_path / ".draft-abc").mkdir()
    again = Classifiers([], ClassifierStore(tmp_path))
    assert again.get("things").manifest.version == 1
    assert {path.name for path in tmp_path.rglob("*") if path.name.startswith(".")} == set()
    assert again.add_version("things", _write).manifest.version == 3


@pytest.mark.slow
def test_a_service_that_starts_leaves_anothers_draft(tmp_path: Path) -> None:
    classifiers = Classifiers([], ClassifierStore(tmp_path))

    def start_another_meanwhile(directory: Path, version: int) -> Head:
        head = _write(directory, version)
        program = (
            "import sys; from pathlib import Path\n"
            "from service.classification.store import ClassifierStore\n"
            "ClassifierStore(Path(sys.argv[1]))\n"
        )
        subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
        return head

    assert classifiers.add_version("things", start_another_meanwhile).manifest.version == 1
    assert ClassifierStore(tmp_path).versions("things") == [1]
    assert not list(tmp_path.glob(".*"))


def test_a_process_killed_at_any_moment_leaves_a_whole_version(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from tests.service.classification.test_store import _write\n"
        "from service.classification.classifiers import Classifiers\n"
        "from service.classification.store import ClassifierStore\n"
        "classifiers = Classifiers([], ClassifierStore(Path(sys.argv[1])))\n"
        "classifiers.add_version('things', _write)\n"
        "print('ready', flush=True)\n"
        "while True: classifiers.add_version('things', _write)\n"
    )
    for milliseconds in (20, 35, 60):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(milliseconds / 1000)
        process.kill()
        process.wait()
        process.stdout.close()
        head = Classifiers([], ClassifierStore(tmp_path)).get("things")
        assert (head.weights == head.manifest.version).all()


def test_a_damaged_classifier_is_left_out_and_the_rest_served(tmp_path: Path) -> None:
    classifiers = Classifiers([], ClassifierStore(tmp_path))
    classifiers.add_version("things", _write)
    classifiers.add_version("other", lambda path, v: _write(path, v, name="other"))
    (tmp_path / "other" / "v1" / WEIGHTS_FILE).write_bytes(b"")
    assert [head.name for head in Classifiers([], ClassifierStore(tmp_path)).list()] == ["things"]


@pytest.mark.parametrize("name", ["", "..", "a/b", "A", ".hidden", "x" * 65])
def test_names_lead_nowhere_else(tmp_path: Path, name: str) -> None:
    classifiers = Classifiers([], ClassifierStore(tmp_path / "in"))
    with pytest.raises(InputError):
        classifiers.add_version(name, _write)
    assert not list(tmp_path.rglob("*"))


class _Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (Path.touch, (self._path,))


def test_a_head_can_hold_no_code(tmp_path: Path) -> None:
    """A pickle under the name of the weights is refused unread, its hash right or wrong."""
    head = _write(tmp_path / "head", 1)
    bomb = pickle.dumps(_Bomb(tmp_path / "exploded"))
    pickle.loads(bomb)
    assert (tmp_path / "exploded").exists()
    (tmp_path / "exploded").unlink()
    (tmp_path / "head" / WEIGHTS_FILE).write_bytes(bomb)
    with pytest.raises(BundleError):
        read_head(tmp_path / "head")
    from service.bundle.writer import file_entries

    manifest = head.manifest.model_copy(update={"files": file_entries({WEIGHTS_FILE: bomb})})
    (tmp_path / "head" / HEAD_FILE).write_text(manifest.model_dump_json())
    with pytest.raises(BundleError, match="no safetensors"):
        read_head(tmp_path / "head")
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"files": {"../../etc/passwd": {"sha256": "0" * 64, "bytes": 1}}},
        {"labels": ["a"] * 3},
        {"temperature": float("inf")},
        {"code": "import os"},
        {"dimension": 10**9},
    ],
)
def test_a_manifest_that_lies_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    _write(tmp_path / "head", 1)
    path = tmp_path / "head" / HEAD_FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(BundleError):
        read_head(tmp_path / "head")


def test_what_is_no_name_has_no_versions(tmp_path: Path) -> None:
    store = ClassifierStore(tmp_path / "classifiers")
    (tmp_path / "v1").mkdir()
    for name in ("..", "../..", "a" * 300, "a/b", ""):
        assert store.versions(name) == []


def test_classifiers_are_asked_while_the_disk_is_slow(tmp_path: Path) -> None:
    """Requests ask on the event loop, which must not wait for a version to be written."""
    slow = SlowStore(tmp_path)
    classifiers = Classifiers([], slow)
    classifiers.add_version("things", _write)
    slow.may_end.clear()
    with ThreadPoolExecutor(2) as threads:
        fit = threads.submit(classifiers.add_version, "things", _write)
        assert slow.begun.wait(10)
        asked = threads.submit(lambda: (classifiers.list(), classifiers.get("things")))
        try:
            heads, head = asked.result(5)
        finally:
            slow.may_end.set()
        assert heads == (head,)
        assert head.manifest.version == 1
        assert fit.result(10).manifest.version == 2


class SlowStore(ClassifierStore):
    """Takes as long to switch to a version as a test likes."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.begun, self.may_end = Event(), Event()
        self.may_end.set()

    def activate(self, name: str, version: int) -> Head:
        if not self.may_end.is_set():
            self.begun.set()
        assert self.may_end.wait(20)
        return super().activate(name, version)
