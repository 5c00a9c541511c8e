from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from service.errors import BundleError, SettingsError
from service.inference.encoder import Encoder
from service.inference.opening import open_in_background, open_models
from tests.service.api.running import tiny_settings
from tests.tiny_bundle import SENTENCES

SERVE_ON_OPENVINO = """
import sys
from pathlib import Path

import service.app
from service.inference.opening import open_models
from service.settings import Settings

(opened,) = open_models(Settings(data=Path(sys.argv[1]), runtime="openvino", precision="int8"))
opened.encoder.encode(["Guten Morgen!"])
print(opened.encoder.name, opened.choice.execution.runtime, "onnxruntime" in sys.modules)
"""


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


def test_a_server_on_openvino_imports_onnx_runtime_to_measure_alone(tmp_path: Path) -> None:
    """Importing it takes 20 MB and 0.1 s."""
    pytest.importorskip("openvino", reason="it comes with the extra `openvino`")
    for imported in ("True", "False"):
        done = subprocess.run(
            [sys.executable, "-c", SERVE_ON_OPENVINO, str(tmp_path)], capture_output=True, text=True
        )
        assert done.stdout.split() == ["interlingua-mini", "openvino", imported], done.stderr
