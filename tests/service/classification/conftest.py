from __future__ import annotations

from pathlib import Path

import pytest

from service.classification.head import write_head
from tests.service.classification.samples import head_manifest, head_weights


@pytest.fixture
def head_directory(tmp_path: Path) -> Path:
    weights, bias = head_weights()
    write_head(tmp_path / "topic", head_manifest(), weights=weights, bias=bias)
    return tmp_path / "topic"
