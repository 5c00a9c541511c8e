"""One vocabulary for all languages: of words, as in papers before subwords, or of pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from training.data.corpus import Corpus
from training.data.tokens import TokenTable, tokenize
from training.served_vocabulary import ServedVocabulary
from training.vocabulary import VocabularyPlan, prepare_pieces
from training.word_vocabulary import WordPlan, prepare_words
from training.workspace import Workspace

Unit = Literal["words", "pieces"]
"""What has an id: a word, or a piece of SentencePiece."""


def prepare_shared_vocabulary(
    work: Workspace, corpus: Corpus, plan: WordPlan | VocabularyPlan, *, name: str = "vocabulary"
) -> ServedVocabulary:
    """Return the vocabulary of all languages of `corpus`: words, or pieces, kept under `name`."""
    if isinstance(plan, VocabularyPlan):
        work.progress.title(f"vocabulary: {plan.pieces:,} {plan.kind} pieces")
        return prepare_pieces(work, corpus, plan, name=f"{name}.model")
    work.progress.title("vocabulary: words of all languages")
    return prepare_words(work, corpus.texts, plan, name="words.json")


def unit_plan(unit: Unit, *, size: int, seed: int) -> WordPlan | VocabularyPlan:
    """Return the plan of a vocabulary of the `size` most frequent words, or of as many pieces."""
    return WordPlan(words=size) if unit == "words" else VocabularyPlan(pieces=size, seed=seed)


def prepare_shared_tokens(
    work: Workspace,
    texts: Sequence[str],
    vocabulary: ServedVocabulary,
    *,
    longest: int,
    name: str = "tokens.npz",
) -> TokenTable:
    """Return the ids of `texts`, cut to `longest` each, kept under `name`."""
    work.progress.title(f"tokens: {len(texts):,} sentences to ids")
    return work.keep(
        name,
        lambda: tokenize(texts, vocabulary.tokenizer, max_tokens=longest, progress=work.progress),
        save=TokenTable.save,
        load=TokenTable.load,
    )
