from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import ValidationError

from service.api.keys import CHECK_SECONDS, Keys, digest, read_keys
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
def keys(tiny_bundle: Path, tmp_path: Path, file: Path, clock: Clock) -> Keys:
    return Keys(tiny_settings(tiny_bundle, tmp_path, api_keys_file=file), clock=clock)


def replace(file: Path, text: str) -> None:
    """As Kubernetes and careful people do: a new file takes the name of the old."""
    other = file.with_name("new")
    other.write_text(text)
    other.replace(file)


def test_comments_and_empty_lines_are_no_keys(file: Path) -> None:
    assert read_keys(file) == ["one", "two"]


def test_a_changed_file_is_read_within_a_second(keys: Keys, file: Path, clock: Clock) -> None:
    assert keys.digests() == (digest("one"), digest("two"))
    replace(file, "two\nthree\n")
    assert digest("one") in keys.digests()
    clock.now += CHECK_SECONDS
    assert keys.digests() == (digest("two"), digest("three"))


def test_a_file_that_is_gone_locks_nobody_out(keys: Keys, file: Path, clock: Clock) -> None:
    before = keys.digests()
    file.unlink()
    clock.now += CHECK_SECONDS
    assert keys.digests() == before
    file.write_text("four")
    clock.now += CHECK_SECONDS
    assert keys.digests() == (digest("four"),)


def test_an_empty_file_opens_to_nobody(keys: Keys, file: Path, clock: Clock) -> None:
    replace(file, "")
    clock.now += CHECK_SECONDS
    assert not keys.open_to_all
    assert keys.digests() == ()


def test_keys_of_the_setting_stay_beside_the_file(
    tiny_bundle: Path, tmp_path: Path, file: Path
) -> None:
    settings = tiny_settings(tiny_bundle, tmp_path, api_keys="fixed", api_keys_file=file)
    assert Keys(settings).digests() == (digest("fixed"), digest("one"), digest("two"))


def test_a_missing_file_is_refused_at_the_start(tiny_bundle: Path, tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="api_keys_file: there is no file"):
        tiny_settings(tiny_bundle, tmp_path, api_keys_file=tmp_path / "none")


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
