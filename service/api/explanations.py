"""The `explain` of /classify: which parts moved the score, which labelled examples are near."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from service.api.input_vectors import InputVectors, embed_inputs
from service.api.work import Work
from service.classification.explain import (
    Effect,
    Variants,
    effects_of_parts,
    effects_of_pieces,
    leave_out,
    strongest,
)
from service.classification.head import EXAMPLES_FILE, Head, HeadManifest
from service.classification.remembered import (
    Remembered,
    RememberedExamples,
    read_remembered,
)
from service.errors import BundleError
from service.inference.documents import DocumentOptions
from service.inference.encoder import Encoder
from service.inference.request import EmbedOptions
from service.inference.session import Vectors
from service.inference.vectors import normalise
from service.security.grants import Grant
from service.text.sentences import Passage

_NEAREST = 3
_PAIR_PARTS = 16
"""Of each text of a pair."""


async def explain(
    head: Head,
    encoder: Encoder,
    probabilities: Vectors,
    work: Work,
    *,
    options: EmbedOptions,
    document: DocumentOptions | None,
    first: Sequence[str],
    second: Sequence[str] | None,
    vectors: tuple[InputVectors, InputVectors | None],
) -> list[dict[str, object]]:
    """Return an explanation of each input's likeliest label.

    Examples of a corpus that the client may not read are left out.

    Args:
        head: The classifier.
        encoder: The encoder that was asked.
        probabilities: What the head said, [inputs, labels].
        work: The request's.
        options: How the texts were embedded.
        document: How they were split, if they were.
        first: The texts, or each pair's first.
        second: Each pair's second.
        vectors: Theirs.
    """
    told = _may_read_examples(head.manifest, work.grant)
    remembered = await work.run(_remembered, head) if told else None
    shown = vectors[0].vectors
    if vectors[1] is not None:
        shown = np.concatenate([normalise(shown), normalise(vectors[1].vectors)], axis=1)
    shown = normalise(shown)
    columns = probabilities.argmax(axis=1).tolist()
    explanations: list[dict[str, object]] = []
    for row, column in enumerate(columns):
        whole = float(probabilities[row, column])
        pieces = _pieces_of(vectors[0], row) if second is None else None
        if pieces is not None and document is not None:
            effects = await work.run(
                effects_of_pieces, head, first[row], *pieces, column, whole,
                pooling=document.pooling,
            )  # fmt: skip
        else:
            pair = (first[row], None if second is None else second[row])
            effects = await _effects_of_words(
                head, encoder, pair, column, whole, work, options, document=document
            )
        near = remembered.nearest(shown[row], _NEAREST) if remembered is not None else []
        explanations.append(
            {
                "label": head.labels[column],
                "parts": [_part(effect) for effect in strongest(effects)],
                "examples": [_example(example) for example in near],
            }
        )
    return explanations


async def _effects_of_words(
    head: Head,
    encoder: Encoder,
    pair: tuple[str, str | None],
    column: int,
    whole: float,
    work: Work,
    options: EmbedOptions,
    *,
    document: DocumentOptions | None,
) -> list[Effect]:
    async def embed(texts: Sequence[str]) -> Vectors:
        return (await embed_inputs(work, encoder, texts, options, document=document)).vectors

    first, second = pair
    if second is None:
        variants = leave_out(first)
        if not variants.parts:
            return []
        without = await embed(variants.texts)
        return effects_of_parts(variants.parts, column, whole, head.predict(without))
    effects: list[Effect] = []
    sides: list[Variants] = [leave_out(text, most=_PAIR_PARTS) for text in (first, second)]
    for side, variants in enumerate(sides):
        if not variants.parts:
            continue
        kept = second if side == 0 else first
        embedded = await embed([*variants.texts, kept])
        changed = embedded[:-1]
        fixed = np.repeat(embedded[-1:], len(changed), axis=0)
        ordered = (changed, fixed) if side == 0 else (fixed, changed)
        effects += effects_of_parts(
            variants.parts, column, whole, head.predict(*ordered), of_pair=side
        )
    return effects


def _pieces_of(vectors: InputVectors, row: int) -> tuple[list[Passage], Vectors] | None:
    """Return the pieces of an input and their vectors, if it is a document of at least two."""
    if vectors.split is None or vectors.pieces is None or vectors.split.counts[row] < 2:
        return None
    begin = sum(vectors.split.counts[:row])
    pieces = slice(begin, begin + vectors.split.counts[row])
    return vectors.split.pieces[pieces], vectors.pieces[pieces]


def _may_read_examples(manifest: HeadManifest, grant: Grant) -> bool:
    """Return whether the client may see the texts that are kept beside a head.

    Those that were sent are for whoever may classify, those of a corpus for its readers. Of a head
    that does not say where they come from, it may be any corpus.
    """
    of = manifest.examples_from
    if of is not None and of.corpus is None:
        return True
    return grant.reads(None if of is None else of.corpus)


def _remembered(head: Head) -> RememberedExamples | None:
    if head.directory is None or EXAMPLES_FILE not in head.manifest.files:
        return None
    path = head.directory / EXAMPLES_FILE
    try:
        return read_remembered(path)
    except BundleError:
        if path.exists():
            raise
        return None  # its version was dropped since the request began


def _part(effect: Effect) -> dict[str, object]:
    part: dict[str, object] = {
        "text": effect.part.text,
        "start": effect.part.start,
        "end": effect.part.end,
        "effect": round(effect.effect, 6),
    }
    if effect.of_pair is not None:
        part["of_pair"] = effect.of_pair
    return part


def _example(example: Remembered) -> dict[str, object]:
    shown: dict[str, object] = {
        "text": example.text,
        "labels": example.labels,
        "language": example.language,
        "score": example.score,
    }
    if example.text_pair is not None:
        shown["text_pair"] = example.text_pair
    return shown
