"""What the routes work with: the loaded models and stores, and whether they are ready."""

from __future__ import annotations

import asyncio
import enum
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, FastAPI, Request

from service.api.headcount import Headcount
from service.api.turns import Turns
from service.classification.classifiers import Classifiers
from service.errors import ConflictError, NotFoundError, UnavailableError
from service.inference.choosing import Choice
from service.inference.encoder import Encoder
from service.inference.engine import Engine
from service.inference.guarded import GuardedSession
from service.jobs.jobs import Jobs
from service.search.backend import CorporaBackend
from service.security.keys import Keys
from service.security.rates import Rates
from service.settings import Settings
from service.telemetry.metrics import Metrics


class Phase(enum.Enum):
    """Where the service is in its life."""

    LOADING = "loading"
    READY = "ready"
    DRAINING = "draining"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Resources:
    """What was loaded.

    Attributes:
        encoders: Name -> encoder; the first is the default.
        engine: The queue and threads that all encoders share.
        corpora: The documents and their indexes.
        classifiers: The heads.
        jobs: Work that goes on after its request was answered.
        choices: Name -> on what an encoder runs, and what was measured.
    """

    encoders: dict[str, Encoder]
    engine: Engine
    corpora: CorporaBackend
    classifiers: Classifiers
    jobs: Jobs
    choices: dict[str, Choice] = field(default_factory=dict)

    @property
    def default_encoder(self) -> Encoder:
        """The encoder that answers where none is named."""
        return next(iter(self.encoders.values()))

    @property
    def device_lost(self) -> bool:
        """Whether a session is lost, and no other was to be had."""
        towers = [tower for encoder in self.encoders.values() for tower in encoder.towers.values()]
        return any(
            tower.session.lost for tower in towers if isinstance(tower.session, GuardedSession)
        )

    def encoder(self, name: str | None, *, language: str | None = None) -> Encoder:
        """Return the encoder called `name`, or the default.

        Raises:
            NotFoundError: No model of that name is loaded.
            InputError: The model does not know `language`.
        """
        encoder = (
            self.default_encoder
            if name is None
            else self.encoder_named(
                name, remedy="Leave the field out for the first of them, or name one."
            )
        )
        return require_language(encoder, language)

    def encoder_named(self, name: str, *, remedy: str = "Name one of them.") -> Encoder:
        """Return the encoder called `name`.

        Raises:
            NotFoundError: No model of that name is loaded; `remedy` says what to do.
        """
        if name not in self.encoders:
            raise NotFoundError(
                f"No model of this name is loaded; loaded: {', '.join(self.encoders)}.",
                field="model",
                given=name,
                remedy=remedy,
            )
        return self.encoders[name]

    def encoder_for_space(
        self, space: str, *, preferred: str, named: str | None, language: str | None = None
    ) -> Encoder:
        """Return the encoder whose vectors may be compared with those of `space`.

        Args:
            space: The vector space of a corpus or a classifier.
            preferred: The model that made it: taken where it is loaded.
            named: The model that the request names; it must be of the space.
            language: Of the request's texts.

        Raises:
            NotFoundError: No model of the name is loaded.
            ConflictError: The named model, or every loaded one, is of another space.
        """
        if named is not None:
            encoder = self.encoder(named, language=language)
            if encoder.manifest.space != space:
                raise ConflictError(
                    f"Model {named} makes vectors of space {encoder.manifest.space}, which cannot "
                    f"be compared with those of space {space}.",
                    field="model",
                    given=named,
                    remedy="Leave the field out to have a fitting model chosen.",
                )
            return encoder
        fitting = {n: e for n, e in self.encoders.items() if e.manifest.space == space}
        if not fitting:
            raise ConflictError(
                f"No loaded model makes vectors of space {space}.",
                remedy=f"Start the service with the model {preferred}, or one of its space.",
            )
        encoder = fitting.get(preferred) or next(iter(fitting.values()))
        return require_language(encoder, language)


def require_language(encoder: Encoder, language: str | None) -> Encoder:
    """Return `encoder`, or raise InputError where it was not made for `language`."""
    if language is not None:
        encoder.check_language(language)
    return encoder


@dataclass(slots=True)
class State:
    """The application's one mutable object; only `service.app` changes it.

    Attributes:
        settings: What the operator chose.
        metrics: What is counted.
        phase: Where the service is in its life.
        failure: Why loading failed, for the operator.
        keys: What opens the service.
        rates: How fast those keys are used that have a limit.
        headcount: The requests that are answered now.
        one_projection: Held while texts are laid out on a plane, which takes a core.
        turns_to_write: Held while something is written to a corpus.
        departure: Set once it will stop soon, for what waits for nothing that a stop needs.
    """

    settings: Settings
    metrics: Metrics
    phase: Phase = Phase.LOADING
    failure: BaseException | None = None
    keys: Keys = field(init=False)
    rates: Rates = field(default_factory=Rates)
    headcount: Headcount = field(init=False)
    one_projection: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    turns_to_write: Turns = field(default_factory=Turns)
    departure: asyncio.Event = field(default_factory=asyncio.Event)
    _resources: Resources | None = None
    _settled: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        fixed = [key.get_secret_value() for key in self.settings.api_keys]
        self.keys = Keys(fixed, self.settings.api_keys_file)
        self.headcount = Headcount(self.settings.max_requests, open_to_all=self.keys.open_to_all)
        self.metrics.ready.set_function(lambda: float(self.takes_requests))

    @property
    def resources(self) -> Resources:
        """What was loaded, or UnavailableError while there is nothing, or no more."""
        if self.phase is not Phase.READY or self._resources is None:
            raise UnavailableError(
                f"The service is {self.phase.value}.", remedy="Ask /health/ready until it says yes."
            )
        return self._resources

    @property
    def device_lost(self) -> bool:
        """Whether a model cannot be run any more in this process."""
        return self._resources is not None and self._resources.device_lost

    @property
    def leaving(self) -> bool:
        """Whether probes are told that it will stop, while requests are still taken."""
        return self.departure.is_set()

    @property
    def takes_requests(self) -> bool:
        """Whether this replica is loaded, can compute, and will not stop soon."""
        return self.phase is Phase.READY and not self.leaving and not self.device_lost

    async def wait_until_settled(self) -> Phase:
        """Wait until loading is over; return READY or FAILED."""
        await self._settled.wait()
        return self.phase

    def become_ready(self, resources: Resources) -> None:
        """Take requests from now on."""
        self._resources = resources
        self.phase = Phase.READY
        self._settled.set()

    def fail(self, error: BaseException) -> None:
        """Say that loading failed, and why."""
        self.failure = error
        self.phase = Phase.FAILED
        self._settled.set()

    def begin_leaving(self) -> None:
        """Tell probes that it will stop soon; requests are taken as before."""
        self.departure.set()

    def begin_draining(self) -> None:
        """Refuse what comes from now on; what is running goes on."""
        if self.phase is not Phase.FAILED:
            self.phase = Phase.DRAINING
        self._settled.set()


def state_of(app: FastAPI) -> State:
    """Return the state of an application made by `service.app.create_app`."""
    state: State = app.state.interlingua
    return state


# Dependencies are coroutines, as FastAPI sends plain functions to a thread, which costs more than
# the work of a short request; and they do not depend on each other, as each level costs too.


async def _state(request: Request) -> State:
    return state_of(request.app)


async def _resources(request: Request) -> Resources:
    return state_of(request.app).resources


StateOf = Annotated[State, Depends(_state)]
"""The state, whatever the phase."""

Loaded = Annotated[Resources, Depends(_resources)]
"""What was loaded; 503 where it is not."""
