"""A session that is opened again when it is lost, and on the CPU when that does not help.

A text that the model fails on and a device that is gone look alike from outside. So after a failure
a few words that worked at the start are tried: if they fail too, it is the session.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, TypeAlias

from service.errors import BackendError, InterlinguaError
from service.inference.encoder import Encoder, Tower
from service.inference.execution import Execution
from service.inference.session import Session, Vectors
from service.text.tokenizer import Inputs

log = logging.getLogger(__name__)

PAUSE_SECONDS = 5.0
"""Between two attempts to open a session again; in between, work fails at once."""

_PROBE = "Good morning."

Recovery: TypeAlias = Literal["reopened", "fallback", "failed"]

Open: TypeAlias = Callable[[], Session]


class GuardedSession:
    """A `Session` over another that may be replaced.

    Args:
        session: The one to begin with.
        probe: A small batch that it can run.
        ways: How to get another, best first: the same again, then elsewhere.
        told: Called after each attempt, with what came of it.
        clock: Seconds that only move on.
    """

    def __init__(
        self,
        session: Session,
        *,
        probe: Inputs,
        ways: Sequence[tuple[Recovery, Open]],
        told: Callable[[Recovery], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session = session
        self._probe = probe
        self._ways = ways
        self._told = told
        self._clock = clock
        self._mutex = threading.Lock()
        self._next_attempt = float("-inf")
        self._lost = False

    @property
    def lost(self) -> bool:
        """Whether there is no session now; each request still tries to get one."""
        return self._lost

    @property
    def providers(self) -> tuple[str, ...]:
        """What it computes on now, best first."""
        return self._session.providers

    @property
    def precision(self) -> str:
        """That it computes in now."""
        return self._session.precision

    @property
    def batch_tokens(self) -> int | None:
        """More tokens in one batch bring nothing."""
        return self._session.batch_tokens

    @property
    def pads(self) -> bool:
        """Whether padding is computed like tokens."""
        return self._session.pads

    def run(self, inputs: Inputs) -> Vectors:
        """Return what the session returns; where it is lost, what its successor does.

        Raises:
            BackendError: The model failed on these inputs, or no session is to be had.
        """
        session = self._session
        try:
            vectors = session.run(inputs)
        except BackendError:
            if self._works(session):
                raise  # it is these inputs
            if not self._replace(session):
                raise
            return self._session.run(inputs)
        self._has_run(session)
        return vectors

    def _works(self, session: Session) -> bool:
        try:
            session.run(self._probe)
        except BackendError:
            return False
        self._has_run(session)
        return True

    def _has_run(self, session: Session) -> None:
        """Take back that `session` is lost: what another process filled may be free again."""
        if self._lost and self._session is session:
            self._lost = False
            log.warning("the model runs again, on %s", ", ".join(session.providers))

    def _replace(self, lost: Session) -> bool:
        """Put another in the place of `lost`; return whether there is one."""
        with self._mutex:
            if self._session is not lost:
                return True  # another thread was here
            if self._clock() < self._next_attempt:
                self._lost = True
                return False
            log.error("the session on %s is lost", ", ".join(lost.providers))
            for how, open_session in self._ways:
                try:
                    fresh = open_session()
                    fresh.run(self._probe)
                except InterlinguaError as error:
                    log.error("no other session (%s): %s", how, error)
                    continue
                self._session, self._lost = fresh, False
                log.warning("the model runs again, on %s (%s)", ", ".join(fresh.providers), how)
                self._told(how)
                return True
            self._lost = True
            self._next_attempt = self._clock() + PAUSE_SECONDS
            self._told("failed")
            return False


def guard(
    encoder: Encoder, ways: Sequence[tuple[Recovery, Execution]], told: Callable[[Recovery], None]
) -> None:
    """Have the sessions of `encoder` replaced when they are lost.

    Args:
        encoder: Just opened, so that its sessions work.
        ways: On what its graphs are run again, best first.
        told: Called after each attempt, with what came of it.
    """
    guarded: dict[int, Tower] = {}
    for language, tower in encoder.towers.items():
        if id(tower) not in guarded:
            tokens = tower.tokenizer.encode([_PROBE], max_tokens=encoder.manifest.max_tokens)
            guarded[id(tower)] = replace(
                tower,
                session=GuardedSession(
                    tower.session,
                    probe=tower.tokenizer.collate(tokens.tokens),
                    ways=[
                        (how, partial(encoder.open_again, language, execution))
                        for how, execution in ways
                    ],
                    told=told,
                ),
            )
    encoder.towers = {language: guarded[id(tower)] for language, tower in encoder.towers.items()}
