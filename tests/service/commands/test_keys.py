from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.cli import main
from service.security.grants import Grant, Scope
from service.security.keys import Keys, read_keys


def test_a_new_key_opens_what_was_said_and_stands_nowhere(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("old")
    flags = ["--name", "shop", "--scope", "search", "--corpus", "shop-*", "--rate", "5"]
    done = CliRunner().invoke(main, ["keys", "new", *flags, "--file", str(file)])
    assert done.exit_code == 0, done.output
    key = done.stdout.strip()
    assert key not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    keys = Keys(file=file)
    grant = keys.find(key)
    assert grant is not None
    assert grant == Grant("shop", frozenset({Scope.SEARCH}), ("shop-*",), 5.0)
    assert grant.allows("shop-1")
    assert not grant.allows("other")
    assert keys.find("old") is not None


def test_a_server_of_another_user_still_reads_the_file(tmp_path: Path) -> None:
    """It took no new key, and none at all from its next start on."""
    file = tmp_path / "keys"
    file.write_text("old\n")
    file.chmod(0o640)
    before = file.stat()
    if os.getuid() == 0:
        os.chown(file, 10001, 10002)
        before = file.stat()
    for command in (["new", "--file"], ["hash"]):
        done = CliRunner().invoke(main, ["keys", *command, str(file)])
        assert done.exit_code == 0, done.output
        after = file.stat()
        assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
        assert after.st_mode & 0o777 == 0o640


def test_plain_keys_are_exchanged_for_their_digests(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("# ours\nplain scopes=embed\n\nbare\n")
    assert CliRunner().invoke(main, ["keys", "hash", str(file)]).exit_code == 0
    assert "plain" not in file.read_text()
    assert "bare" not in file.read_text()
    assert file.read_text().startswith("# ours\n")
    keys = Keys(file=file)
    grant = keys.find("plain")
    assert grant is not None
    assert grant.scopes == {Scope.EMBED}
    assert keys.find("bare") is not None
    found, _ = read_keys(file)
    assert all(key.hashed for key in found)


def test_what_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    done = CliRunner().invoke(main, ["keys", "new", "--corpus", "a*b", "--file", str(file)])
    assert done.exit_code == 1
    assert "beginnings of names" in done.output
    assert not file.exists()


def test_a_line_that_is_not_understood_is_named(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("# ours\nplain scopes=everything\n")
    done = CliRunner().invoke(main, ["keys", "hash", str(file)])
    assert done.exit_code == 1
    assert "line 2" in done.stderr
    assert "plain" not in done.stderr
    assert "plain" in file.read_text()


@pytest.mark.parametrize("command", [["new", "--file"], ["hash"]])
def test_a_keys_file_that_is_no_utf8_is_named(tmp_path: Path, command: list[str]) -> None:
    file = tmp_path / "keys"
    file.write_bytes("# Schlüssel\n".encode("latin-1"))
    done = CliRunner().invoke(main, ["keys", *command, str(file)])
    assert (done.exit_code, type(done.exception)) == (1, SystemExit)
    assert str(file) in done.stderr
    assert "UTF-8" in done.stderr
    assert not done.stdout
