"""Classifiers on sentence vectors: logistic regression on text of one language.

Since translations lie together, a head that was fitted on English answers in every language of the
encoder's space (Schwenk & Douze 2017 and all who came after evaluate just this, zero-shot).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegressionCV

from service.bundle.manifest import DataSource, Measurement
from service.classification.head import FittedOn, Head, HeadManifest, write_head
from service.errors import InputError
from service.inference.encoder import Encoder
from training.data.lines import BrokenLines
from training.data.tsv import read_tsv
from training.progress import QUIET, Progress
from training.tables import format_table

_STRENGTHS = np.logspace(-1, 3, 9)  # inverse regularisation, chosen by cross-validation
_FOLDS = 5
_ITERATIONS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadData:
    """Labelled text.

    Attributes:
        path: TSV with columns `text` and `label`.
        source: Its name, for the record.
        language: Of its texts.
        dev: Files of the same form to measure on, named `<lang>.…`.
        licence: Of the text and labels.
        attribution: Whom to name.
    """

    path: Path
    source: str
    language: str = "en"
    dev: tuple[Path, ...] = ()
    licence: str
    attribution: str


def train_head(
    model: Path,
    data: HeadData,
    directory: Path,
    *,
    name: str,
    machine: str,
    progress: Progress = QUIET,
) -> Head:
    """Fit a head on the vectors of `model` and write it into `directory`.

    Args:
        model: An encoder bundle.
        data: What it is fitted and measured on.
        directory: Of the head.
        name: Of the head.
        machine: Where it is measured, for the record.
        progress: Tells people.

    Raises:
        InputError: Fewer than two labels, or a label with fewer examples than folds.
    """
    encoder = Encoder(model)
    texts, labels = _read(data.path)
    _check(data.path, labels)
    progress.title(f"head: {len(texts):,} texts, {len(set(labels))} labels")
    vectors = encoder.encode(texts, language=data.language, normalize=True)
    names, targets = np.unique(labels, return_inverse=True)
    fitted = LogisticRegressionCV(
        Cs=_STRENGTHS,
        cv=_FOLDS,
        max_iter=_ITERATIONS,
        scoring="neg_log_loss",
        l1_ratios=(0.0,),
        use_legacy_attributes=False,
    ).fit(vectors, targets)
    weights, bias = _one_row_a_label(fitted.coef_, fitted.intercept_)
    manifest = HeadManifest(
        name=name,
        description=f"{len(names)} labels, fitted on {len(texts):,} texts in {data.language}.",
        labels=tuple(map(str, names)),
        space=encoder.manifest.space,
        encoder=FittedOn(name=encoder.name, identity=encoder.manifest.identity),
        dimension=encoder.dimension,
        data=(
            DataSource(
                name=data.source,
                licence=data.licence,
                attribution=data.attribution,
                sentence_pairs=len(texts),
            ),
        ),
        limits=(
            f"It knows the labels {', '.join(map(str, names))} and no other; "
            "every text gets one of them.",
        ),
        licence=data.licence,
    )
    head = write_head(directory, manifest, weights=weights, bias=bias)
    measured = _measure(head, encoder, data, machine)
    if measured:
        updated = manifest.model_copy(update={"quality": measured})
        head = write_head(directory, updated, weights=weights, bias=bias)
        rows = [[code, f"{value:.1f}"] for code, value in measured[0].by_language.items()]
        progress.note(format_table(["language", "accuracy, %"], rows))
        progress.note(f"mean {measured[0].value:.1f}")
    return head


def _measure(head: Head, encoder: Encoder, data: HeadData, machine: str) -> tuple[Measurement, ...]:
    by_language: dict[str, float] = {}
    for path in data.dev:
        language = path.name.split(".")[0]
        if language not in encoder.manifest.languages:
            continue
        texts, labels = _read(path)
        vectors = encoder.encode(texts, language=language, normalize=True)
        found = np.array(head.labels)[head.predict(vectors).argmax(axis=1)]
        by_language[language] = round(100.0 * float((found == np.array(labels)).mean()), 2)
    if not by_language:
        return ()
    return (
        Measurement(
            protocol="classification",
            dataset=f"{data.source}, dev",
            metric=f"accuracy, %, fitted on {data.language} alone",
            value=round(sum(by_language.values()) / len(by_language), 2),
            by_language=dict(sorted(by_language.items())),
            command="interlingua train head --model MODEL --data TRAIN.tsv --dev FOLDER --out HEAD",
            machine=machine,
        ),
    )


def _read(path: Path) -> tuple[list[str], list[str]]:
    rows = list(read_tsv(path, ("text", "label"), BrokenLines("refuse")))
    return [text for text, _ in rows], [label for _, label in rows]


def _check(path: Path, labels: list[str]) -> None:
    names, counts = np.unique(labels, return_counts=True)
    if len(names) < 2:
        raise InputError(f"{path} has {len(names)} label; two are the least.", field="label")
    if counts.min() < _FOLDS:
        raise InputError(
            f"{path} has {counts.min()} examples of a label; {_FOLDS} are the least.",
            field="label",
            given=str(names[counts.argmin()]),
            remedy="Give more examples, or leave the label out.",
        )


def _one_row_a_label(
    weights: np.ndarray, bias: np.ndarray
) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.float32]], np.ndarray]:
    """Return weights [labels, D] and bias [labels]; for two labels scikit-learn gives one row."""
    if len(weights) == 1:
        weights = np.concatenate([-weights / 2, weights / 2])
        bias = np.concatenate([-bias / 2, bias / 2])
    return weights.astype(np.float32), bias.astype(np.float32)
