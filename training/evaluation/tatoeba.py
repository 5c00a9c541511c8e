"""Tatoeba similarity search (Artetxe & Schwenk 2019, section 4.3).

For each language up to 1,000 sentences and their English translations: accuracy of the nearest
neighbour by cosine, from the language to English and back, in the mean of both directions.
"""

from __future__ import annotations

from collections.abc import Collection

from service.errors import InputError
from service.inference.encoder import Encoder
from training.data.folder import DataFolder
from training.data.lines import BrokenLines
from training.data.tsv import read_tsv
from training.evaluation.figures import Figure, mean_figure
from training.evaluation.retrieval import both_ways, unit_vectors

NAME = "tatoeba"


def evaluate(
    encoder: Encoder, folder: DataFolder, languages: Collection[str] | None = None
) -> list[Figure]:
    """Return the accuracy, mean over languages.

    Args:
        encoder: Of the exported bundle.
        folder: Has `eval/tatoeba/<lang>-en.tsv(.gz)`.
        languages: Those to measure; those that the bundle was trained for where None.

    Raises:
        InputError: There is no file for any of them.
    """
    wanted = set(encoder.manifest.languages if languages is None else languages)
    by_language: dict[str, float] = {}
    for path in folder.evaluation_files(NAME, "*-en.tsv*"):
        language = path.name.split(".")[0].removesuffix("-en")
        if language in wanted:
            rows = list(read_tsv(path, (language, "en"), BrokenLines("refuse")))
            foreign = unit_vectors(encoder, [row[0] for row in rows], language)
            english = unit_vectors(encoder, [row[1] for row in rows], "en")
            by_language[language] = both_ways(foreign, english)
    if not by_language:
        raise InputError(
            f"{folder.root}/eval/tatoeba has no file of {', '.join(sorted(wanted))}.",
            field="--data",
            remedy="Files are named `<lang>-en.tsv(.gz)`, header `<lang> TAB en`.",
        )
    name = f"Tatoeba, {len(by_language)} languages with English"
    return [mean_figure(NAME, name, "accuracy both ways, %", by_language)]
