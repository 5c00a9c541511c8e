"""Where shards are encoded: in this process, or by actors of a Ray cluster.

Either way a shard's texts go through the same function, one thread at a time, so that the vectors
are the same numbers. Shards come back in no stated order.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from service.bulk.items import Item
from service.bulk.shards import Shard
from service.errors import BackendError, SettingsError
from service.inference.encoder import Encoder
from service.inference.session import Vectors

WAITING_EACH = 2
"""Shards sent to an actor before it has finished one: it never waits, and little lies in memory."""

RETRIES = 3
"""Of a shard whose actor died."""


@dataclass(frozen=True, slots=True)
class EncoderChoice:
    """What each worker loads.

    Attributes:
        model: The bundle's directory; on a cluster, the same path on every machine.
        dimensions: Of the vectors; all where None.
        language: Of texts that name none.
        prompt: One of the model's, by name, put before each text; its default where None.
    """

    model: Path
    dimensions: int | None = None
    language: str | None = None
    prompt: str | None = None


class Worker:
    """A loaded encoder that encodes shards."""

    def __init__(self, choice: EncoderChoice) -> None:
        self._choice = choice
        self._encoder = Encoder(choice.model)

    def encode(self, items: tuple[Item, ...]) -> Vectors:
        """Return float32 [items, dimensions], in the order of `items`."""
        choice, encoder = self._choice, self._encoder
        prefix = encoder.prompt_prefix(choice.prompt)
        if not encoder.needs_language:
            texts = [item.text for item in items]
            return encoder.encode(texts, dimensions=choice.dimensions, prefix=prefix)
        languages = {item.language or choice.language for item in items}
        width = choice.dimensions or encoder.dimension
        vectors = np.zeros((len(items), width), dtype=np.float32)
        for language in sorted(languages, key=str):
            rows = [
                row
                for row, item in enumerate(items)
                if (item.language or choice.language) == language
            ]
            vectors[rows] = encoder.encode(
                [items[row].text for row in rows],
                language=language,
                dimensions=choice.dimensions,
                prefix=prefix,
            )
        return vectors


def encode_here(shards: Iterable[Shard], choice: EncoderChoice) -> Iterator[tuple[Shard, Vectors]]:
    """Yield shards with their vectors float32 [items, dimensions], encoded by this process."""
    worker = Worker(choice)
    for shard in shards:
        yield shard, worker.encode(shard.items)


def encode_on_ray(
    shards: Iterable[Shard], choice: EncoderChoice, *, address: str | None, workers: int | None
) -> Iterator[tuple[Shard, Vectors]]:
    """Yield shards with their vectors, encoded by actors of one core each.

    Args:
        shards: Read as they are needed.
        choice: What the actors load.
        address: Of a cluster; the one that RAY_ADDRESS names, or a new one here, where None.
        workers: Actors; as many as the cluster has cores where None.

    Raises:
        SettingsError: Ray is not installed.
        BackendError: No cluster is there, or a shard failed again and again.
    """
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise SettingsError(
            "Encoding on a cluster needs Ray.", remedy="pip install 'interlingua[ray]'"
        ) from None
    ours = not ray.is_initialized()
    if ours:
        _join(ray, address)
    try:
        count = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        actor = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=RETRIES)(Worker)
        actors = [actor.remote(choice) for _ in range(count)]
        yield from _spread(ray, actors, iter(shards))
    except ray.exceptions.RayError as error:
        raise BackendError(
            f"The cluster could not encode a shard: {error}",
            remedy="Start it again: finished shards are kept.",
        ) from error
    finally:
        if ours:
            ray.shutdown()


def _join(ray: Any, address: str | None) -> None:  # noqa: ANN401 - Ray's module
    dashboard = None if address else False
    try:
        ray.init(address=address, include_dashboard=dashboard, log_to_driver=False)
    except Exception as error:  # Ray has no error of its own here: a slow start is a bare Exception
        ray.shutdown()  # a node that could not be joined; one that timed out ends with this process
        where = f"reached at {address}" if address else "started here"
        raise BackendError(
            f"No Ray cluster could be {where}: {error}.",
            remedy="See that the cluster runs, and that --ray-address or RAY_ADDRESS names it.",
        ) from error


def _spread(
    ray: Any,  # noqa: ANN401 - Ray's module
    actors: list[Any],
    shards: Iterator[Shard],
) -> Iterator[tuple[Shard, Vectors]]:
    waiting: dict[Any, tuple[Shard, Any]] = {}

    def send(actor: Any) -> None:  # noqa: ANN401 - an actor's handle
        if (shard := next(shards, None)) is not None:
            waiting[actor.encode.remote(shard.items)] = shard, actor

    for _ in range(WAITING_EACH):
        for actor in actors:
            send(actor)
    while waiting:
        (ready, *_), _rest = ray.wait(list(waiting), num_returns=1)
        shard, actor = waiting.pop(ready)
        vectors = ray.get(ready)
        send(actor)
        yield shard, vectors
