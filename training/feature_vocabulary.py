"""The input of Chidambaram et al. 2018: words with character n-grams, or pieces (section 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from service.text.tokenizer import SentencePieceTokenizer, Tokenizer
from service.text.vocabulary import NgramPlan, NgramTokenizer, read_vocabulary
from training.data.corpus import Corpus
from training.data.feature_tokens import FeatureTable, SentenceIds, tokenize_features
from training.data.tokens import TokenTable, tokenize
from training.preparation import prepare_vocabulary
from training.vocabulary import VocabularyPlan
from training.word_vocabulary import WordPlan, prepare_words
from training.workspace import Workspace

NGRAM_SIZES = (3, 4)
"""Characters of an n-gram (section 3.2)."""


@dataclass(frozen=True, slots=True)
class FeatureVocabulary:
    """A vocabulary, ready to be used and to be written into a bundle.

    Attributes:
        file: Its content.
        kind: As the bundle's manifest names it.
        tokenizer: The one that serves.
        ngrams: Ids of n-grams, 0 for none included; 0 where a token has none.
    """

    file: bytes
    kind: Literal["sentencepiece", "vocabulary"]
    tokenizer: Tokenizer
    ngrams: int

    @property
    def words(self) -> int:
        """Ids of words or pieces."""
        return self.tokenizer.vocabulary_size


def prepare_feature_vocabulary(
    work: Workspace, corpus: Corpus, plan: WordPlan | VocabularyPlan
) -> FeatureVocabulary:
    """Return the vocabulary of all languages of `corpus`: words with n-grams, or pieces."""
    if isinstance(plan, VocabularyPlan):
        pieces = prepare_vocabulary(work, corpus, plan)
        return FeatureVocabulary(pieces, "sentencepiece", SentencePieceTokenizer(pieces), 0)
    file = prepare_words(work, corpus, plan)
    tokenizer = read_vocabulary(file)
    assert isinstance(tokenizer, NgramTokenizer)
    return FeatureVocabulary(file, "vocabulary", tokenizer, 1 + tokenizer.plan.buckets)


def word_plan(*, words: int, unknown_buckets: int, ngram_buckets: int) -> WordPlan:
    """Return the paper's kind of vocabulary, in other sizes."""
    return WordPlan(
        words=words,
        lower=False,  # the paper says nothing of lower case
        unknown_buckets=unknown_buckets,
        ngrams=NgramPlan(sizes=NGRAM_SIZES, buckets=ngram_buckets),
    )


def prepare_ids(
    work: Workspace, texts: Sequence[str], vocabulary: FeatureVocabulary, *, longest: int
) -> SentenceIds:
    """Return the ids of `texts`, cut to `longest` words each."""
    work.progress.title(f"tokens: {len(texts):,} sentences to ids")
    tokenizer = vocabulary.tokenizer
    if isinstance(tokenizer, NgramTokenizer):
        return work.keep(
            "features.npz",
            lambda: tokenize_features(texts, tokenizer, longest=longest),
            save=FeatureTable.save,
            load=FeatureTable.load,
        )
    return work.keep(
        "task-tokens.npz",
        lambda: tokenize(texts, tokenizer, max_tokens=longest, progress=work.progress),
        save=TokenTable.save,
        load=TokenTable.load,
    )
