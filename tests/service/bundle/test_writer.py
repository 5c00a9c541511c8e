from __future__ import annotations

from pathlib import Path

import pytest

from service.bundle import writer
from service.bundle.reader import read_bundle
from service.bundle.writer import file_entries, write_bundle
from service.errors import BundleError
from tests.tiny_bundle import make_tiny_bundle


def test_replaces_an_older_bundle(tmp_path: Path) -> None:
    first = read_bundle(make_tiny_bundle(tmp_path / "tiny", seed=1))
    second = read_bundle(make_tiny_bundle(tmp_path / "tiny", seed=2))
    assert first.manifest.identity != second.manifest.identity
    assert [path.name for path in tmp_path.iterdir()] == ["tiny"]


def test_break_while_writing_leaves_the_old_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = make_tiny_bundle(tmp_path / "tiny", seed=1)
    before = read_bundle(directory).manifest.identity

    def fail(_: object) -> str:
        raise OSError("No space left on device")

    monkeypatch.setattr(writer, "render_card", fail)
    with pytest.raises(OSError, match="No space"):
        make_tiny_bundle(directory, seed=2)
    assert read_bundle(directory).manifest.identity == before
    assert [path.name for path in tmp_path.iterdir()] == ["tiny"]


@pytest.mark.parametrize("beside", ["notes.txt", "head.json"])
def test_what_is_no_bundle_is_never_replaced(tmp_path: Path, beside: str) -> None:
    own = tmp_path / "own"
    own.mkdir()
    make_tiny_bundle(own)  # nothing was in it
    (own / "bundle.json").rename(own / beside)
    with pytest.raises(BundleError, match="would be lost"):
        make_tiny_bundle(own)
    with pytest.raises(BundleError, match="would be lost"):
        make_tiny_bundle(own / beside)
    assert (own / beside).is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["own"]


@pytest.mark.parametrize("known_by", ["bundle.json", "head.json"])
def test_a_bundle_is_never_written_into_a_model(tmp_path: Path, known_by: str) -> None:
    (tmp_path / "topic").mkdir()
    (tmp_path / "topic" / known_by).write_text("{}")
    with pytest.raises(BundleError, match=f"inside the model .*topic, which has a {known_by}"):
        make_tiny_bundle(tmp_path / "topic" / "new")
    assert [path.name for path in (tmp_path / "topic").iterdir()] == [known_by]


def test_manifest_of_other_files_is_a_bug(tmp_path: Path, tiny_bundle: Path) -> None:
    manifest = read_bundle(tiny_bundle).manifest
    with pytest.raises(ValueError, match="bug"):
        write_bundle(tmp_path / "other", manifest, {"encoder.onnx": b""})


def test_entries_carry_size_and_hash() -> None:
    # sha256 of the empty string, FIPS 180-4 test vector
    entry = file_entries({"empty": b""})["empty"]
    assert entry.bytes == 0
    assert entry.sha256 == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
