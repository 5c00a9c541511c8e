"""Tatoeba similarity search (Artetxe & Schwenk 2019, section 4.3).

For each language up to 1,000 sentences and their English translations: accuracy of the nearest
neighbour by cosine, from the language to English and back, in the mean of both directions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from service.errors import InputError
from training.data.folder import DataFolder
from training.data.tsv import read_all
from training.evaluation.figures import Figure, mean_figure
from training.evaluation.models import (
    SentenceModel,
    open_partner,
    require_files,
    require_languages,
    vectors_of,
)
from training.evaluation.retrieval import both_ways

NAME = "tatoeba"

_FORM = "`<lang>-en.tsv(.gz)`, header `<lang> TAB en`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tatoeba:
    """What may be changed with `--set`."""

    languages: tuple[str, ...] = ()  # the model's where none
    partner: str = ""  # a model of the same space that encodes the English

    def measure(self, model: SentenceModel, folder: Callable[[], DataFolder]) -> list[Figure]:
        """Return the accuracy, mean over those languages that there is a file of.

        Raises:
            InputError: There is no file for any of them, or for one that was named.
        """
        opened = folder()
        partner = open_partner(self.partner, model)
        wanted = self.languages or tuple(model.languages)
        files = {
            path.name.split(".")[0].removesuffix("-en"): path
            for path in opened.evaluation_files(NAME, "*-en.tsv*")
        }
        # English is the other side of every pair, and no language of its own.
        named = [name for name in self.languages if name != "en"]
        require_files(named, files, folder=opened.root / "eval/tatoeba", form=_FORM)
        by_language: dict[str, float] = {}
        for language, path in files.items():
            if language in wanted:
                require_languages(model, (language, "en"))
                rows = read_all(path, (language, "en"))
                foreign = vectors_of(model, [row[0] for row in rows], language, unit=True)
                english = vectors_of(partner, [row[1] for row in rows], "en", unit=True)
                by_language[language] = both_ways(foreign, english)
        if not by_language:
            raise InputError(
                f"{opened.root}/eval/tatoeba has no file of {', '.join(sorted(wanted))}.",
                field="--data",
                remedy=f"Files are named {_FORM}.",
            )
        theirs = f" by {partner.name}" if self.partner else ""
        name = f"Tatoeba, {len(by_language)} languages with English{theirs}"
        return [mean_figure(NAME, name, "accuracy both ways, %", by_language)]
