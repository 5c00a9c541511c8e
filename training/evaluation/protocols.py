"""Protocols by name, for the command line and for what is measured after an export."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

from service.inference.encoder import Encoder
from training.data.folder import DataFolder
from training.evaluation import demo_corpus, sts, tatoeba
from training.evaluation.figures import Figure

Languages = Collection[str] | None

Protocol = Callable[[Encoder, Callable[[], DataFolder], Languages], list[Figure]]
"""(encoder, opens the data folder where it is needed, languages) -> figures."""


def _tatoeba(
    encoder: Encoder, folder: Callable[[], DataFolder], languages: Languages
) -> list[Figure]:
    return tatoeba.evaluate(encoder, folder(), languages)


def _sts(encoder: Encoder, folder: Callable[[], DataFolder], languages: Languages) -> list[Figure]:
    return sts.evaluate(encoder, folder(), languages)


def _demo(encoder: Encoder, _: Callable[[], DataFolder], languages: Languages) -> list[Figure]:
    return demo_corpus.evaluate(encoder, languages=languages)


PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {tatoeba.NAME: _tatoeba, sts.NAME: _sts, demo_corpus.NAME: _demo}
)
