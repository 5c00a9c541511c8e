"""What the tests of all recipes begin with: a module's `run`, trained."""

from __future__ import annotations

import pytest

from service.bundle.reader import Bundle
from training.run import Run, train


@pytest.fixture(scope="module")
def bundle(run: Run) -> Bundle:
    """The bundle of the module's own fixture `run`."""
    trained = train(run)
    assert trained is not None
    return trained
