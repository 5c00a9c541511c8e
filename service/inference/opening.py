"""Open the models that settings name, each on what runs it best."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from service.errors import SettingsError
from service.huggingface.bundle import read_model
from service.inference.choosing import Choice, Wishes, choose
from service.inference.encoder import Encoder
from service.inference.providers import best_providers
from service.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Opened:
    """A model, and why it runs as it does.

    Attributes:
        encoder: The model.
        choice: On what it runs, and what was measured to choose that.
    """

    encoder: Encoder
    choice: Choice


Opening: TypeAlias = Future[Sequence[Opened]]


def open_models(settings: Settings) -> tuple[Opened, ...]:
    """Return the models of `settings`, in their order; blocks for as long as that takes.

    Raises:
        BundleError: A model that cannot be trusted or served.
        SettingsError: Two models of one name, or one that cannot run as the settings want.
    """
    opened: dict[str, Opened] = {}
    for directory in settings.model:
        model = _open(directory, settings)
        if model.encoder.name in opened:
            raise SettingsError(
                f"Two models are called {model.encoder.name}.",
                field="model",
                given=str(directory),
                remedy="Give one of them, or rename one in its bundle.json.",
            )
        opened[model.encoder.name] = model
    return tuple(opened.values())


def open_in_background(settings: Settings) -> Opening:
    """Return at once; the future holds what `open_models` returns or raises."""
    thread = ThreadPoolExecutor(1, thread_name_prefix="opening")
    try:
        return thread.submit(open_models, settings)
    finally:
        thread.shutdown(wait=False)


def _open(directory: Path, settings: Settings) -> Opened:
    bundle = read_model(directory)
    if settings.batch_tokens < bundle.manifest.max_tokens:
        log.warning(
            "batch_tokens (%d) is below the %d tokens that %s takes: longer texts run alone",
            settings.batch_tokens,
            bundle.manifest.max_tokens,
            bundle.manifest.name,
        )
    wishes = Wishes(settings.runtime, settings.precision, settings.workers, best_providers())
    choice = choose(bundle, wishes, memory=settings.data / "measured-runtimes.json")
    encoder = choice.encoder or Encoder(bundle, execution=choice.execution)
    return Opened(encoder, replace(choice, encoder=None))
