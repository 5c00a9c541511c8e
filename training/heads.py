"""The shipped heads: fitted on text of one language or several, measured in all of them.

Since translations lie together, a head that was fitted on English answers in every language of the
encoder's space (Schwenk & Douze 2017 and all who came after evaluate just this, zero-shot). The fit
is the service's own; what is added here is where the text comes from and what it measures.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from service.bundle.manifest import DataSource, Measurement
from service.classification.example import Example
from service.classification.examples import ExampleCollector
from service.classification.fit import FitOptions
from service.classification.head import Head, write_head
from service.classification.making import HeadPlan, make_head
from service.errors import InputError
from service.inference.encoder import Encoder
from training.data.labelled_rows import language_of, read_labelled
from training.progress import QUIET, Progress
from training.tables import format_table

COMMAND = "interlingua train head --model MODEL --data TRAIN.tsv --dev FOLDER --out HEAD"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadData:
    """Labelled text.

    Attributes:
        paths: TSV with columns `text` and `label`, or `premise`, `hypothesis` and `label`.
        source: Its name, for the record.
        language: Of its texts; None where each file's name says it, as that of `de.train.tsv.gz`
            does. Files in languages that the encoder does not know are passed over then.
        parallel: Whether line i says the same in every file; then it is held out in all at once.
        labels: Keep only rows with one of these; all where empty.
        dev: Files of the same form to measure on, named `<lang>.…`.
        dev_source: Their name, for the record.
        licence: Of the text and labels.
        attribution: Whom to name.
    """

    paths: tuple[Path, ...]
    source: str
    language: str | None = "en"
    parallel: bool = False
    labels: tuple[str, ...] = ()
    dev: tuple[Path, ...] = ()
    dev_source: str = ""
    licence: str
    attribution: str


def train_head(
    model: Path,
    data: HeadData,
    directory: Path,
    *,
    name: str,
    machine: str,
    command: str = COMMAND,
    progress: Progress = QUIET,
) -> Head:
    """Fit a head on the vectors of `model` and write it into `directory`.

    Args:
        model: An encoder bundle.
        data: What it is fitted and measured on.
        directory: Of the head.
        name: Of the head.
        machine: Where it is measured, for the record.
        command: What it is made with, for the record.
        progress: Tells people.

    Raises:
        InputError: Fewer than two labels, a label with a single example, a file to measure on with
            none of the labels, or none of them, nor the text itself, of a language that `model`
            knows; nothing is written then.
    """
    encoder = Encoder(model)
    if data.language is not None:
        encoder.check_language(data.language)
    with ExampleCollector(multi_label=False, contradictions="drop") as collector:
        languages = _collect(data, collector, known=encoder.manifest.languages)
        examples = collector.finish()
        dev = read_dev(data, known=encoder.manifest.languages, labels=examples.labels)
        progress.title(f"head: {len(examples):,} examples, {len(examples.labels)} labels")
        if examples.dropped:
            progress.note(
                f"{examples.dropped:,} rows are left out: their text has another label elsewhere."
            )
        kind = "pairs of texts" if examples.pairs else "texts"
        plan = HeadPlan(
            name=name,
            description=f"{len(examples.labels)} labels, fitted on {len(examples):,} {kind} in "
            f"{', '.join(languages)}.",
            options=FitOptions(),
            source=DataSource(
                name=data.source,
                licence=data.licence,
                attribution=data.attribution,
                sentence_pairs=len(examples),
            ),
            limits=(
                f"It knows the labels {', '.join(examples.labels)} and no other; every text gets "
                "one of them.",
            ),
            licence=data.licence,
            remember=False,  # the text is not ours to pass on
        )
        head = make_head(plan, examples, encoder, directory, watcher=_Shown(progress))
    measured = _measure(head, encoder, data, dev, languages, machine=machine, command=command)
    if measured:
        manifest = head.manifest.model_copy(update={"quality": measured})
        head = write_head(directory, manifest, weights=head.weights, bias=head.bias)
        rows = [[code, f"{value:.1f}"] for code, value in measured[0].by_language.items()]
        progress.note(format_table(["language", "accuracy, %"], rows))
        progress.note(f"mean {measured[0].value:.1f}")
    return head


class _Shown:
    """The fit's steps, for people."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def progress(self, done: int, total: int | None = None, note: str | None = None) -> None:
        self._progress.count(done, total or done, "steps", f", {note}" if note else "")

    def check(self) -> None:
        """Go on: whoever wants an end interrupts the process."""


def _collect(
    data: HeadData, collector: ExampleCollector, *, known: Collection[str]
) -> tuple[str, ...]:
    """Put the rows into `collector`; return the languages they are in."""
    found: dict[str, None] = {}
    for path in data.paths:
        language = data.language or language_of(path)
        if data.language is None and language not in known:
            continue
        found[language] = None
        rows = read_labelled(path, language=language, labels=data.labels or None)
        for number, example in enumerate(rows):
            collector.add(replace(example, group=str(number)) if data.parallel else example)
    return tuple(found)


def read_dev(
    data: HeadData, *, known: Collection[str], labels: Collection[str]
) -> dict[str, list[Example]]:
    """Return the examples to measure on by language.

    Args:
        data: Names the files.
        known: Languages that the encoder knows; files in others are passed over.
        labels: Of the head; rows with others are left out.

    Raises:
        InputError: A file has none of the labels, or none is in a known language.
    """
    found: dict[str, list[Example]] = {}
    for path in data.dev:
        language = language_of(path)
        if language in known:
            found[language] = list(read_labelled(path, language=language, labels=labels))
            if not found[language]:
                raise InputError(
                    f"{path} has no example with one of the labels {', '.join(labels)}.",
                    field="dev",
                )
    if data.dev and not found:
        names = ", ".join(sorted(path.name for path in data.dev))
        raise InputError(
            f"No file to measure on is of a language that the model knows: {names}.",
            field="dev",
            remedy="Name them <lang>.dev.tsv(.gz), as en.dev.tsv.",
        )
    return found


def _measure(
    head: Head,
    encoder: Encoder,
    data: HeadData,
    dev: Mapping[str, Sequence[Example]],
    fitted_on: Sequence[str],
    *,
    machine: str,
    command: str,
) -> tuple[Measurement, ...]:
    if not dev:
        return ()
    by_language = {
        language: round(accuracy(head, encoder, examples), 2) for language, examples in dev.items()
    }
    first = "en" if "en" in fitted_on else fitted_on[0]
    others = [value for code, value in by_language.items() if code != first]
    mean = sum(others) / len(others) if others else by_language[first]
    said = f"{first} alone" if len(fitted_on) == 1 else f"{len(fitted_on)} languages"
    return (
        Measurement(
            protocol="classification",
            dataset=data.dev_source or data.source,
            metric=f"accuracy, %, fitted on {said}, mean of all languages but {first}",
            value=round(mean, 2),
            by_language=dict(sorted(by_language.items())),
            command=command,
            machine=machine,
        ),
    )


def accuracy(head: Head, encoder: Encoder, rows: Sequence[Example]) -> float:
    """Return the percentage of `rows`, one or more, whose likeliest label is theirs."""
    first = encoder.encode([row.text for row in rows], normalize=True)
    second = None
    if head.takes_pairs:
        second = encoder.encode([row.text_pair or "" for row in rows], normalize=True)
    found = np.array(head.labels)[head.predict(first, second).argmax(axis=1)]
    return 100.0 * float((found == np.array([row.labels[0] for row in rows])).mean())
