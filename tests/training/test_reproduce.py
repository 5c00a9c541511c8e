"""The check that a bundle is served as it was exported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from service.bundle.reader import Bundle, read_bundle
from service.errors import BundleError, NotFoundError
from service.inference.encoder import Encoder
from service.inference.session import Vectors
from training.recipe import find_recipe, recipe_names
from training.reproduce import (
    Reproduced,
    System,
    compare,
    list_systems,
    reproduce,
    reproduced_table,
)
from training.served import served


@pytest.fixture
def bundle(tiny_bundle: Path) -> Bundle:
    return read_bundle(tiny_bundle)


def test_every_system_of_every_recipe_is_listed() -> None:
    systems = list_systems(recipe_names())
    assert {system.recipe for system in systems} == set(recipe_names())
    names = [system.name for system in systems if system.recipe == "li-tmde"]
    assert names == list(find_recipe("li-tmde").systems)
    with pytest.raises(NotFoundError, match="Did you mean 'yu'"):
        list_systems(["yuu"])


@pytest.mark.e2e
def test_a_bundle_that_is_served_as_it_is_passes(bundle: Bundle) -> None:
    compare(bundle)


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("other", "said"),
    [
        (lambda vectors: vectors + 1e-3, "differs from Encoder"),
        (lambda vectors: vectors[:, :-1], "no finite"),
    ],
)
def test_other_vectors_are_found(
    bundle: Bundle,
    monkeypatch: pytest.MonkeyPatch,
    other: Callable[[Vectors], Vectors],
    said: str,
) -> None:
    real = Encoder.encode
    monkeypatch.setattr(Encoder, "encode", lambda *a, **k: other(np.asarray(real(*a, **k))))
    with pytest.raises(BundleError, match=said):
        compare(bundle)


@pytest.mark.e2e
def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"(?s)does not start.*bundle\.json"), served(tmp_path):
        pass


@pytest.mark.e2e
def test_an_answer_that_is_an_error_is_told(tiny_bundle: Path) -> None:
    with served(tiny_bundle) as server, pytest.raises(BundleError, match="answers 4"):
        server.embed([], language="en")


def test_what_goes_wrong_is_in_the_answer(tmp_path: Path) -> None:
    found = reproduce(System("fast", "broken", ("steps=0",)), tmp_path / "run")
    assert found.trouble is not None
    assert "steps is 1 or more" in found.trouble
    assert "Traceback" in (tmp_path / "run/trouble.txt").read_text()


def test_the_table_says_which_failed() -> None:
    system = System("fast", "fast", ())
    good = Reproduced(
        system=system, steps=80, step_seconds=0.01, seconds=6.0, first_loss=12.0, last_loss=5.0
    )
    bad = Reproduced(system=system, seconds=1.0, trouble="BundleError: no")
    header, first, second = reproduced_table([good, bad]).splitlines()
    assert first.split() == ["fast:", "fast", "80", "10.0", "12.00", "->", "5.00", "6.0", "served"]
    assert second.endswith("FAILED BundleError: no")
    assert header.startswith("system")
