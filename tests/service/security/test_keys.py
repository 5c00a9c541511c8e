from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import ValidationError

from service.errors import InputError
from service.security.grants import ALL_SCOPES, Scope, digest_of
from service.security.keys import CHECK_SECONDS, Keys, read_keys
from tests.service.api.running import Running, run_app, tiny_settings


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "keys"
    file.write_text("# team one\none\n\n  two  \n")
    return file


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(file: Path, clock: Clock) -> Keys:
    return Keys(file=file, clock=clock)


def replace(file: Path, text: str) -> None:
    """As Kubernetes and careful people do: a new file takes the name of the old."""
    other = file.with_name("new")
    other.write_text(text)
    other.replace(file)


def opened(keys: Keys, *candidates: str) -> list[str]:
    return [candidate for candidate in candidates if keys.find(candidate) is not None]


def test_comments_and_empty_lines_are_no_keys(file: Path) -> None:
    found, broken = read_keys(file)
    assert [key.digest for key in found] == [digest_of("one"), digest_of("two")]
    assert broken == []


def test_a_changed_file_is_read_within_a_second(keys: Keys, file: Path, clock: Clock) -> None:
    assert opened(keys, "one", "two", "three") == ["one", "two"]
    replace(file, "two\nthree\n")
    assert opened(keys, "one")
    clock.now += CHECK_SECONDS
    assert opened(keys, "one", "two", "three") == ["two", "three"]


def test_a_file_that_is_gone_locks_nobody_out(keys: Keys, file: Path, clock: Clock) -> None:
    assert opened(keys, "one", "two") == ["one", "two"]
    file.unlink()
    clock.now += CHECK_SECONDS
    assert opened(keys, "one", "two") == ["one", "two"]
    file.write_text("four")
    clock.now += CHECK_SECONDS
    assert opened(keys, "one", "four") == ["four"]


def test_that_it_cannot_be_read_is_logged_once(
    keys: Keys, file: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    assert opened(keys, "one") == ["one"]
    file.unlink()
    for _ in range(3):
        clock.now += CHECK_SECONDS
        assert opened(keys, "one") == ["one"]
    assert caplog.text.count("cannot be read again") == 1


def test_a_file_of_the_same_size_and_time_is_another(keys: Keys, file: Path, clock: Clock) -> None:
    """Kubernetes exchanges a mounted Secret by a link, and may keep its time."""
    assert opened(keys, "one") == ["one"]
    before = file.stat()
    other = file.with_name("new")
    other.write_text(file.read_text().replace("one\n", "eno\n"))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(file)
    clock.now += CHECK_SECONDS
    assert opened(keys, "one", "eno") == ["eno"]


def test_an_empty_file_opens_to_nobody(keys: Keys, file: Path, clock: Clock) -> None:
    replace(file, "")
    clock.now += CHECK_SECONDS
    assert not keys.open_to_all
    assert opened(keys, "", "one") == []


def test_a_line_not_understood_opens_nothing_and_the_others_count(
    keys: Keys, file: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    replace(file, "one scopes=evrything\ntwo scopes=search\n")
    clock.now += CHECK_SECONDS
    with caplog.at_level(logging.ERROR):
        assert opened(keys, "one", "two") == ["two"]
    assert "line 1 opens nothing" in caplog.text
    assert "one" not in caplog.text.replace("None", "")
    grant = keys.find("two")
    assert grant is not None
    assert grant.scopes == {Scope.SEARCH}


def test_a_stolen_file_opens_nothing(file: Path, clock: Clock) -> None:
    digest = f"sha256:{digest_of('secret').hex()}"
    file.write_text(digest + "\n")
    keys = Keys(file=file, clock=clock)
    assert opened(keys, "secret", digest, digest.removeprefix("sha256:")) == ["secret"]


def test_keys_of_the_setting_stay_beside_the_file(file: Path) -> None:
    keys = Keys(["fixed"], file)
    assert opened(keys, "fixed", "one", "other") == ["fixed", "one"]
    grant = keys.find("fixed")
    assert grant is not None
    assert grant.scopes == ALL_SCOPES


def test_a_missing_file_is_refused_at_the_start(tiny_bundle: Path, tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="api_keys_file: there is no file"):
        tiny_settings(tiny_bundle, tmp_path, api_keys_file=tmp_path / "none")


def test_a_file_that_may_not_be_read_is_refused_at_the_start(
    tiny_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one of another user's that is mounted into a container."""
    (tmp_path / "keys").write_bytes(b"secret-\xe9\n")
    with pytest.raises(ValidationError, match=r"api_keys_file: .*keys is no UTF-8"):
        tiny_settings(tiny_bundle, tmp_path, api_keys_file=tmp_path / "keys")

    def refuse(path: Path, **_: object) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(ValidationError, match="keys cannot be read: Permission denied"):
        tiny_settings(tiny_bundle, tmp_path, api_keys_file=tmp_path / "keys")


def test_a_broken_line_is_refused_at_the_start(tiny_bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("good\nsecret-word rate=fast\n")
    with pytest.raises(ValidationError, match="line 2") as caught:
        tiny_settings(tiny_bundle, tmp_path, api_keys_file=tmp_path / "keys")
    assert "secret-word" not in str(caught.value)
    with pytest.raises(InputError):
        Keys(["sha256:short"])


@pytest.fixture
async def running(tiny_bundle: Path, tmp_path: Path, file: Path) -> AsyncIterator[Running]:
    async with run_app(tiny_settings(tiny_bundle, tmp_path, api_keys_file=file)) as running:
        yield running


async def test_a_revoked_key_is_refused_without_a_restart(running: Running, file: Path) -> None:
    async def status(key: str) -> int:
        header = {"authorization": f"Bearer {key}"}
        return (await running.client.get("/models", headers=header)).status_code

    assert [await status(key) for key in ("one", "three")] == [200, 401]
    replace(file, "three")
    running.state.keys._next_check = 0.0
    assert [await status(key) for key in ("one", "three")] == [401, 200]
