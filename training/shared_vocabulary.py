"""One vocabulary for all languages: of words, as in papers before subwords, or of pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from service.text.tokenizer import SentencePieceTokenizer, Tokenizer
from service.text.vocabulary import read_vocabulary
from training.data.corpus import Corpus
from training.data.tokens import TokenTable, tokenize
from training.preparation import prepare_vocabulary
from training.vocabulary import VocabularyPlan
from training.word_vocabulary import WordPlan, prepare_words
from training.workspace import Workspace

Unit = Literal["words", "pieces"]
"""What has an id: a word, or a piece of SentencePiece."""


@dataclass(frozen=True, slots=True)
class SharedVocabulary:
    """A vocabulary, ready to be used and to be written into a bundle.

    Attributes:
        file: Its content.
        kind: As the bundle's manifest names it.
        tokenizer: The one that serves.
    """

    file: bytes
    kind: Literal["sentencepiece", "vocabulary"]
    tokenizer: Tokenizer

    @property
    def size(self) -> int:
        """How many ids there are."""
        return self.tokenizer.vocabulary_size

    @property
    def units(self) -> list[str]:
        """The word or piece of each id."""
        return self.tokenizer.decode(list(range(self.size)))


def prepare_shared_vocabulary(
    work: Workspace, corpus: Corpus, *, unit: Unit, size: int, seed: int
) -> SharedVocabulary:
    """Return a vocabulary of the `size` most frequent words of `corpus`, or of as many pieces."""
    if unit == "words":
        words = prepare_words(work, corpus, WordPlan(words=size))
        return SharedVocabulary(words, "vocabulary", read_vocabulary(words))
    pieces = prepare_vocabulary(work, corpus, VocabularyPlan(pieces=size, seed=seed))
    return SharedVocabulary(pieces, "sentencepiece", SentencePieceTokenizer(pieces))


def prepare_shared_tokens(
    work: Workspace, corpus: Corpus, vocabulary: SharedVocabulary, *, longest: int
) -> TokenTable:
    """Return the ids of all sentences of `corpus`, cut to `longest` each."""
    work.progress.title("tokens: all sentences to ids")
    return work.keep(
        "tokens.npz",
        lambda: tokenize(
            corpus.texts, vocabulary.tokenizer, max_tokens=longest, progress=work.progress
        ),
        save=TokenTable.save,
        load=TokenTable.load,
    )
