from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import pytest

from service.errors import BackendError, BundleError
from service.inference.guarded import PAUSE_SECONDS, GuardedSession, Recovery
from service.inference.session import Session, Vectors
from service.text.tokenizer import Inputs

PROBE: Inputs = {"ids": np.zeros((1, 1), np.int64), "mask": np.ones((1, 1), np.int64)}
POISON: Inputs = {"ids": np.full((1, 1), 7, np.int64), "mask": np.ones((1, 1), np.int64)}


@dataclass
class Fake:
    """A session that can be broken."""

    providers: tuple[str, ...] = ("CUDAExecutionProvider",)
    precision: str = "fp32"
    batch_tokens: int | None = None
    pads: bool = True
    broken: bool = False
    runs: int = 0

    def run(self, inputs: Inputs) -> Vectors:
        self.runs += 1
        if self.broken or (inputs["ids"] == 7).any():
            raise BackendError("it failed")
        return np.zeros((len(inputs["ids"]), 1), np.float32)


@dataclass
class Setup:
    first: Fake = field(default_factory=Fake)
    told: list[Recovery] = field(default_factory=list)
    now: float = 0.0

    def guarded(self, *ways: tuple[Recovery, Callable[[], Session]]) -> GuardedSession:
        return GuardedSession(
            self.first, probe=PROBE, ways=ways, told=self.told.append, clock=lambda: self.now
        )


def refuse() -> Session:
    raise BundleError("no device")


def test_a_bad_input_replaces_nothing() -> None:
    setup = Setup()
    session = setup.guarded(("reopened", Fake))
    with pytest.raises(BackendError):
        session.run(POISON)
    session.run(PROBE)
    assert setup.told == []
    assert not session.lost


def test_the_ways_are_tried_in_their_order() -> None:
    setup = Setup()
    setup.first.broken = True
    cpu = Fake(providers=("CPUExecutionProvider",))
    session = setup.guarded(("reopened", refuse), ("fallback", lambda: cpu))
    session.run(PROBE)
    assert setup.told == ["fallback"]
    assert session.providers == ("CPUExecutionProvider",)


def test_what_is_opened_must_work() -> None:
    setup = Setup()
    setup.first.broken = True
    session = setup.guarded(("reopened", lambda: Fake(broken=True)), ("fallback", Fake))
    session.run(PROBE)
    assert setup.told == ["fallback"]


def test_where_nothing_helps_it_is_tried_again_after_a_pause() -> None:
    setup = Setup()
    setup.first.broken = True
    found = [refuse, refuse, Fake]
    session = setup.guarded(("reopened", lambda: found.pop(0)()))
    for _ in range(3):
        with pytest.raises(BackendError):
            session.run(PROBE)
    assert setup.told == ["failed"], "no more often than once a pause"
    assert session.lost
    setup.now += PAUSE_SECONDS
    with pytest.raises(BackendError):
        session.run(PROBE)
    setup.now += PAUSE_SECONDS
    session.run(PROBE)
    assert setup.told == ["failed", "failed", "reopened"]
    assert not session.lost


@pytest.mark.parametrize("inputs", [PROBE, POISON])
def test_one_that_comes_back_by_itself_is_not_lost(inputs: Inputs) -> None:
    setup = Setup()
    session = setup.guarded(("reopened", refuse))
    for broken in (True, False, True):
        setup.first.broken = broken
        with suppress(BackendError):
            session.run(inputs)
        assert session.lost is broken
    assert setup.told == ["failed"]
