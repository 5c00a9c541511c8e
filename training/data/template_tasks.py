"""Conversations, running text and inference made from templates, for the smoke scale and tests.

What goes together shares a subject or an object, so each task can be learned in seconds; none of it
says anything about real conversations.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from training.data.inference import LABELS
from training.data.templates import (
    LANGUAGES,
    TemplateSentence,
    template_sentences,
    write_gzip,
)

_TRAINED = 256
"""Sentences that `write_template_folder` trains on; the others are for evaluation."""


def write_template_tasks(root: Path, seed: int = 0) -> Path:
    """Write eval/dialogue, eval/consecutive and eval/nli (English) into the data folder `root`."""
    sentences = template_sentences(seed)[:_TRAINED]
    for language in LANGUAGES:
        texts = [sentence.texts[language] for sentence in sentences]
        by_meaning = {
            sentence.meaning: text for sentence, text in zip(sentences, texts, strict=True)
        }
        answers = (
            (text, _response(by_meaning, s)) for s, text in zip(sentences, texts, strict=True)
        )
        write_gzip(
            root / "eval/dialogue" / f"{language}.train.tsv.gz",
            ["input\tresponse", *(f"{text}\t{other}" for text, other in answers if other)],
        )
        write_gzip(
            root / "eval/consecutive" / f"{language}.templates.txt.gz",
            [line for story in _stories(sentences) for line in (*_in(language, story), "")],
        )
    pairs = [
        f"{first.texts['en']}\t{second.texts['en']}\t{label}"
        for first in sentences
        for second, label in zip(_related(sentences, first), LABELS, strict=True)
    ]
    write_gzip(root / "eval/nli" / "en.templates.tsv.gz", ["premise\thypothesis\tlabel", *pairs])
    return root


def _response(by_meaning: dict[tuple[int, int, int], str], s: TemplateSentence) -> str | None:
    """Return what is next done by the same subject to the same object, where that is there."""
    subject, verb, obj = s.meaning
    return next(
        (
            by_meaning[meaning]
            for step in range(1, 6)
            if (meaning := (subject, (verb + step) % 6, obj)) in by_meaning
        ),
        None,
    )


def _stories(sentences: list[TemplateSentence]) -> list[list[TemplateSentence]]:
    """Return all that one subject does to one object, a document each."""
    stories: dict[tuple[int, int], list[TemplateSentence]] = {}
    for sentence in sorted(sentences, key=lambda s: s.meaning):
        stories.setdefault((sentence.meaning[0], sentence.meaning[2]), []).append(sentence)
    return list(stories.values())


def _related(sentences: list[TemplateSentence], first: TemplateSentence) -> list[TemplateSentence]:
    """Return a sentence that says the same, one about something else, one with another subject."""
    subject, verb, obj = first.meaning
    elsewhere = next(s for s in sentences if s.meaning[0] == subject and s.meaning[2] != obj)
    other = next(
        (s for s in sentences if s.meaning[1:] == (verb, obj) and s.meaning[0] != subject),
        sentences[0],
    )
    return [first, elsewhere, other]


def _in(language: str, story: Iterable[TemplateSentence]) -> list[str]:
    return [sentence.texts[language] for sentence in story]
