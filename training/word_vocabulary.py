"""Vocabularies of whole words: the most frequent ones of a text, cut as the service cuts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from service.errors import InputError
from service.text.clean import clean
from service.text.vocabulary import NgramPlan, Vocabulary
from service.text.words import split_words
from training.served_vocabulary import ServedVocabulary
from training.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class WordPlan:
    """Which words become a vocabulary."""

    words: int | None = None  # the most frequent so many; all where None
    least: int = 1  # times a word must occur
    lower: bool = True
    unknown_buckets: int = 1  # that all other words are hashed into
    ngrams: NgramPlan | None = None


def train_words(texts: Iterable[str], plan: WordPlan) -> Vocabulary:
    """Return the words of `texts`, the most frequent first; of equals the first in the alphabet.

    Raises:
        InputError: No word occurs often enough.
    """
    counts = Counter(word for text in texts for word in split_words(clean(text), lower=plan.lower))
    kept = sorted(
        (word for word, count in counts.items() if count >= plan.least),
        key=lambda word: (-counts[word], word),
    )[: plan.words]
    if not kept:
        raise InputError(
            f"No word occurs {plan.least} times in this text.",
            field="words",
            remedy="Give more text, or take words that are rarer.",
        )
    return Vocabulary(
        lower=plan.lower,
        unknown_buckets=plan.unknown_buckets,
        words=tuple(kept),
        ngrams=plan.ngrams,
    )


def prepare_words(
    work: Workspace, texts: Iterable[str], plan: WordPlan, *, name: str
) -> ServedVocabulary:
    """Return the vocabulary of `texts`, kept under `name`."""
    file = work.keep_bytes(name, lambda: train_words(texts, plan).write())
    return ServedVocabulary.of_words(file)
