from __future__ import annotations

from pathlib import Path

import pytest

from service.errors import SettingsError
from service.security.exposure import check_exposure, is_loopback, who_may_ask
from tests.service.api.running import tiny_settings


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost", ""])
def test_without_keys_this_machine_is_answered(
    tiny_bundle: Path, tmp_path: Path, host: str
) -> None:
    settings = tiny_settings(tiny_bundle, tmp_path, host=host)
    check_exposure(settings)
    assert "this machine alone" in who_may_ask(settings)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.4", "example.org"])
def test_and_no_other_unless_that_is_said(tiny_bundle: Path, tmp_path: Path, host: str) -> None:
    assert not is_loopback(host)
    with pytest.raises(SettingsError, match="OPEN_TO_NETWORK"):
        check_exposure(tiny_settings(tiny_bundle, tmp_path, host=host))
    said = tiny_settings(tiny_bundle, tmp_path, host=host, open_to_network=True)
    check_exposure(said)
    assert "everybody" in who_may_ask(said)
    locked = tiny_settings(tiny_bundle, tmp_path, host=host, api_keys="one")
    check_exposure(locked)
    assert "with a key" in who_may_ask(locked)
