"""From labelled examples, or mere descriptions of labels, to a head on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from service.bundle.manifest import DataSource
from service.classification.described import (
    Background,
    background_texts,
    describe_labels,
    label_texts,
    measure_background,
)
from service.classification.examples import ExampleSet, Text
from service.classification.fit import FitOptions, Fitted, Watcher, check_class_weights, fit
from service.classification.head import FittedOn, Head, HeadManifest, pair_features, write_head
from service.classification.logistic import Features, Linear, Matrix
from service.classification.manifest import ExamplesFrom
from service.classification.remembered import MOST_REMEMBERED, Remembered, RememberedExamples
from service.errors import InputError
from service.inference.documents import DocumentOptions, Encode, encode_documents
from service.inference.encoder import Encoder
from service.inference.vectors import normalise
from service.text.language import detector

_BATCH_TEXTS = 1024
HALF_PRECISION_FROM = 100_000
"""Vectors of more examples than this are held as float16: half the memory, and no accuracy lost."""
_LANGUAGES_DETECTED = 2000
"""Of so many examples at most, where nobody says them: detection is slower than encoding."""
_OWN = "text of your own"
_backgrounds: WeakKeyDictionary[Encoder, Background] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadPlan:
    """What a head shall be.

    Attributes:
        name: Its name.
        version: Its version.
        description: For people.
        labels: Label -> words that describe it; empty where only examples speak.
        options: Of the fit.
        document: How texts are split and pooled; None takes each as one.
        source: Where the examples come from, for the card.
        corpus: Name of the one they are documents of; None where they were sent.
        limits: What it cannot do, for the card.
        licence: Of the head.
        remember: Whether to keep examples beside it, to explain answers with.
    """

    name: str
    version: int = 1
    description: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    options: FitOptions = field(default_factory=FitOptions)
    document: DocumentOptions | None = None
    source: DataSource | None = None
    corpus: str | None = None
    limits: tuple[str, ...] = ()
    licence: str = _OWN
    remember: bool = True


def make_head(
    plan: HeadPlan,
    examples: ExampleSet | None,
    encoder: Encoder,
    directory: Path,
    *,
    watcher: Watcher,
    encode: Encode | None = None,
) -> Head:
    """Encode the examples, fit a head, and write it into `directory` once it is whole.

    Args:
        plan: What it shall be.
        examples: None where descriptions of the labels are all there is.
        encoder: In whose space it lives.
        directory: Of the head.
        watcher: Told of each step; what it raises ends the work, and nothing is written.
        encode: Makes texts into unit vectors; `encoder`, in this thread, where None.

    Raises:
        InputError: What `check_plan` raises, or nothing to fit on.
    """
    encode = encode or _encode_here(encoder)
    if examples is not None:
        check_plan(plan, examples)
    descriptions = _all_described(plan.labels, examples)
    prior = described_labels(descriptions, encoder, encode) if descriptions else None
    if examples is None or not len(examples):
        if prior is None:
            raise InputError("There is neither an example nor a described label.", field="examples")
        fitted, remembered = Fitted(prior, 1.0, None), None
        labels: tuple[str, ...] = tuple(descriptions)
    else:
        labels = examples.labels
        order = _random_order(len(examples), examples.groups)
        vectors = _Vectors(encoder, plan.document, encode)
        features, remembered = _encode(examples, order, vectors, _Half(watcher, 0))
        languages = _languages(examples, encoder)
        fitted = fit(
            features,
            examples.targets[order],
            labels=labels,
            languages=[languages[row] for row in order.tolist()],
            options=plan.options,
            watcher=_Half(watcher, 1, len(examples)),
            prior=prior,
            groups=None if examples.groups is None else examples.groups[order],
        )
    kept = remembered if plan.remember else None
    manifest = HeadManifest(
        name=plan.name,
        version=plan.version,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        description=plan.description,
        labels=labels,
        space=encoder.manifest.space,
        encoder=FittedOn(name=encoder.name, identity=encoder.manifest.identity),
        dimension=encoder.dimension,
        features="pair" if examples is not None and examples.pairs else "vector",
        multi_label=examples is not None and examples.targets.ndim == 2,
        unknown_threshold=plan.options.unknown_threshold,
        temperature=fitted.temperature,
        document=plan.document,
        examples=len(examples) if examples is not None else 0,
        examples_from=None if kept is None else ExamplesFrom(corpus=plan.corpus),
        by_label=examples.by_label if examples is not None else {},
        described=tuple(plan.labels),
        report=fitted.report,
        data=(plan.source,) if plan.source is not None else (),
        limits=plan.limits,
        licence=plan.licence,
    )
    watcher.check()
    return write_head(
        directory,
        manifest,
        weights=fitted.linear.weights,
        bias=fitted.linear.bias,
        examples=None if kept is None else kept.to_bytes(),
    )


def check_plan(plan: HeadPlan, examples: ExampleSet) -> None:
    """Raise InputError where what is planned cannot be fitted on `examples`."""
    check_class_weights(plan.options.class_weights, examples.labels)
    if examples.targets.ndim == 1:
        _check_threshold(plan.options.unknown_threshold, len(examples.labels))
    if examples.pairs and plan.labels:
        raise InputError(
            "Pairs of texts cannot be told apart by a description of the labels.",
            field="labels",
            remedy="Leave labels out.",
        )


def _check_threshold(threshold: float | None, labels: int) -> None:
    """Raise InputError where `threshold` is one that the likeliest of `labels` always reaches."""
    least = 1 / labels
    if threshold is not None and threshold <= least:
        raise InputError(
            f"Of {labels} labels the likeliest has a probability of {least:.3g} at least, so that "
            "no text would be unknown.",
            field="unknown_threshold",
            given=threshold,
            remedy="Set it higher, or leave it out.",
        )


def described_labels(descriptions: Mapping[str, str], encoder: Encoder, encode: Encode) -> Linear:
    """Return the weights that descriptions of labels amount to with `encoder`.

    Args:
        descriptions: Label -> words for it.
        encoder: In whose space they are.
        encode: Its way to unit vectors.
    """
    background = known_background(encoder)
    if background is None:  # measured twice where two threads come at once, to the same end
        background = remember_background(encoder, encode(background_texts()))
    return describe_labels(descriptions, encode(label_texts(descriptions)), background)


def known_background(encoder: Encoder) -> Background | None:
    """Return the background of `encoder`, if it was measured since the start."""
    return _backgrounds.get(encoder)


def remember_background(encoder: Encoder, vectors: Matrix) -> Background:
    """Return the background of `encoder`, and keep it.

    Args:
        encoder: The encoder.
        vectors: Its own of `background_texts`.
    """
    background = _backgrounds[encoder] = measure_background(vectors)
    return background


def described_head(
    descriptions: Mapping[str, str], encoder: Encoder, encode: Encode | None = None
) -> Head:
    """Return a head of labels that are only described; it is not written anywhere.

    Args:
        descriptions: Label -> words for it.
        encoder: In whose space it lives.
        encode: Makes texts into unit vectors; `encoder`, in this thread, where None.
    """
    linear = described_labels(descriptions, encoder, encode or _encode_here(encoder))
    return head_of_words(descriptions, encoder, linear)


def head_of_words(descriptions: Mapping[str, str], encoder: Encoder, linear: Linear) -> Head:
    """Return a head of described labels whose weights are known.

    Args:
        descriptions: Label -> words for it.
        encoder: In whose space it lives.
        linear: What `describe_labels` returns.
    """
    manifest = HeadManifest(
        name="described",
        labels=tuple(descriptions),
        space=encoder.manifest.space,
        encoder=FittedOn(name=encoder.name, identity=encoder.manifest.identity),
        dimension=encoder.dimension,
        described=tuple(descriptions),
        licence=_OWN,
    )
    return Head(manifest, linear.weights, linear.bias)


def _all_described(given: Mapping[str, str], examples: ExampleSet | None) -> dict[str, str]:
    """Return a description of every label, in order; of those without one, the name is it."""
    if not given:
        return {}
    names = examples.labels if examples is not None else sorted(given)
    return {label: given.get(label, "") for label in names}


def _random_order(count: int, groups: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
    """Return the rows in random order, those of a group together.

    A file is often sorted, and the last part of many examples is held out.
    """
    random = np.random.default_rng(0)
    if groups is None:
        return random.permutation(count)
    numbers, member = np.unique(groups, return_inverse=True)
    return np.argsort(random.permutation(len(numbers))[member.ravel()], kind="stable")


class _Half:
    """Makes one progress of two stages: texts encoded, then steps fitted that count as many."""

    def __init__(self, watcher: Watcher, stage: int, texts: int = 0) -> None:
        self._watcher = watcher
        self._stage = stage
        self._texts = texts
        self.check = watcher.check

    def progress(self, done: int, total: int | None = None, note: str | None = None) -> None:
        texts = total or 1
        if self._stage:
            done, texts = self._texts + self._texts * done // texts, self._texts
        self._watcher.progress(done, 2 * texts, note)


def _encode(
    examples: ExampleSet,
    order: npt.NDArray[np.int64],
    vectors_of: _Vectors,
    watcher: Watcher,
) -> tuple[Features, RememberedExamples]:
    """Return the features of all examples in `order`, and some examples to remember."""
    count = len(examples)
    width = vectors_of.encoder.dimension * (4 if examples.pairs else 1)
    precision = np.float16 if count > HALF_PRECISION_FROM else np.float32
    features = np.empty((count, width), dtype=precision)
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    chosen = set(order[:MOST_REMEMBERED].tolist())
    remembered: list[Remembered] = []
    vectors: list[Matrix] = []
    done = 0
    for batch in examples.batches(_BATCH_TEXTS):
        watcher.progress(done, count, "encoding")
        first = vectors_of([text for text, _ in batch])
        pairs = [pair for _, pair in batch if pair is not None]
        second = vectors_of(pairs) if pairs else None
        features[place[done : done + len(batch)]] = (
            first if second is None else pair_features(first, second)
        )
        shown = first if second is None else normalise(np.concatenate([first, second], axis=1))
        for position, text in enumerate(batch):
            row = done + position
            if row in chosen:
                remembered.append(_remember(text, row, examples))
                vectors.append(shown[position])
        done += len(batch)
    return features, RememberedExamples(remembered, np.stack(vectors).astype(np.float16))


@dataclass(frozen=True, slots=True)
class _Vectors:
    """Texts to unit vectors, each taken as one text or as a document."""

    encoder: Encoder
    document: DocumentOptions | None
    encode: Encode

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Return float32 [texts, D]."""
        if self.document is not None:
            return encode_documents(self.encoder, texts, self.document, encode=self.encode)
        return self.encode(texts)


def _encode_here(encoder: Encoder) -> Encode:
    return partial(encoder.encode, normalize=True)


def _remember(text: Text, row: int, examples: ExampleSet) -> Remembered:
    target = examples.targets[row]
    columns = [int(target)] if np.ndim(target) == 0 else np.flatnonzero(target).tolist()
    labels = tuple(examples.labels[column] for column in columns)
    return Remembered(text[0], labels, examples.languages[row], 0.0, text[1])


def _languages(examples: ExampleSet, encoder: Encoder) -> list[str | None]:
    """Return the language of each example: given, detected for some, or None."""
    languages = list(examples.languages)
    missing = [row for row, language in enumerate(languages) if language is None]
    wanted = set(missing[:: max(1, -(-len(missing) // _LANGUAGES_DETECTED))])
    if not wanted:
        return languages
    detect = detector(encoder.manifest.languages).detect
    row = 0
    for batch in examples.batches(_BATCH_TEXTS):
        for text, _ in batch:
            if row in wanted and (found := detect(text)) is not None:
                languages[row] = found.language
            row += 1
    return languages
