from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from service.errors import BundleError, SettingsError
from service.inference.encoder import Encoder
from service.inference.opening import open_in_background, open_models
from tests.service.api.running import tiny_settings
from tests.tiny_bundle import SENTENCES


def test_the_model_of_the_settings_is_opened(
    tiny_bundle: Path, tiny_encoder: Encoder, tmp_path: Path
) -> None:
    (opened,) = open_in_background(tiny_settings(tiny_bundle, tmp_path)).result(30)
    assert opened.encoder.name == tiny_encoder.name
    assert opened.choice.execution == opened.encoder.execution
    np.testing.assert_array_equal(opened.encoder.encode(SENTENCES), tiny_encoder.encode(SENTENCES))


def test_two_models_of_one_name_are_refused(tiny_bundle: Path, tmp_path: Path) -> None:
    settings = tiny_settings(tiny_bundle, tmp_path)
    twice = settings.model_copy(update={"model": (*settings.model, *settings.model)})
    with pytest.raises(SettingsError, match="Two models are called"):
        open_models(twice)


def test_what_opening_raises_comes_with_the_result(tmp_path: Path) -> None:
    opening = open_in_background(tiny_settings(tmp_path / "none", tmp_path))
    with pytest.raises(BundleError, match="none"):
        opening.result(30)
