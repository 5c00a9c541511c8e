"""How fast a model encodes: sentences and words a second, on this machine, as it is served.

Words are what blanks separate. The papers' words a second are those of training (Li 2021, tables
4.1 and 4.3); they are in a run's log.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from training.data.folder import DataFolder
from training.evaluation.figures import Figure, mean_figure
from training.evaluation.models import SentenceModel, vectors_of
from training.evaluation.nway_rows import NWayRows

NAME = "speed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed(NWayRows):
    """What may be changed with `--set`."""

    seconds: float = 1.0  # encode for at least so long a language

    def measure(self, model: SentenceModel, folder: Callable[[], DataFolder]) -> list[Figure]:
        """Return sentences a second and words a second, each the mean over languages.

        Raises:
            InputError: The source or a language is missing.
        """
        columns = self.read(model, folder(), least=1)
        languages = tuple(columns)
        sentences: dict[str, float] = {}
        words: dict[str, float] = {}
        for language, texts in columns.items():
            vectors_of(model, texts[:64], language, unit=True)  # warm
            encoded, begun = 0, time.perf_counter()
            while not encoded or time.perf_counter() - begun < self.seconds:
                vectors_of(model, texts, language, unit=True)
                encoded += len(texts)
            passed = time.perf_counter() - begun
            sentences[language] = encoded / passed
            words[language] = sentences[language] * _words(texts) / len(texts)
        return [
            mean_figure(
                NAME,
                f"{self.source}, {len(columns[languages[0]]):,} rows",
                f"{unit} a second",
                values,
            )
            for unit, values in (("sentences", sentences), ("words", words))
        ]


def _words(texts: list[str]) -> int:
    return sum(len(text.split()) for text in texts)
