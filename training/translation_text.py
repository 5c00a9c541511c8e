"""The text of systems that translate with one vocabulary for all languages: files to batches."""

from __future__ import annotations

from dataclasses import dataclass

from service.text.tokenizer import SentencePieceTokenizer
from training.data.corpus import Corpus, CorpusPlan
from training.data.parallel_rows import joined_rows
from training.data.translation_batches import BatchLimits, TranslationBatches
from training.language_vocabularies import tokenize_columns
from training.paths import Mixture
from training.preparation import prepare_corpus, prepare_tokens, prepare_vocabulary
from training.translation import TranslationSystem
from training.translation_development import TranslationDevelopment
from training.vocabulary import VocabularyPlan
from training.workspace import Workspace


@dataclass(frozen=True, slots=True)
class TranslationText:
    """A corpus and the vocabulary that all its languages share.

    Attributes:
        work: Where tokens are kept.
        corpus: Training text and what was set aside of it.
        vocabulary: A SentencePiece model file.
        tokenizer: The same, opened.
    """

    work: Workspace
    corpus: Corpus
    vocabulary: bytes
    tokenizer: SentencePieceTokenizer

    @property
    def pieces(self) -> int:
        """Size of the vocabulary."""
        return self.tokenizer.vocabulary_size

    def batches(self, mixture: Mixture, *, limits: BatchLimits, seed: int) -> TranslationBatches:
        """Return batches along the paths of `mixture`."""
        # One token more than may be, so that what is too long is known and left out, not cut.
        longest = limits.longest + 1
        tokens = prepare_tokens(self.work, self.corpus, self.vocabulary, longest=longest)
        rows = joined_rows(self.corpus, "en")
        return TranslationBatches(rows, tokens, mixture, limits=limits, seed=seed)

    def development(
        self, system: TranslationSystem, mixture: Mixture, *, longest: int
    ) -> TranslationDevelopment:
        """Return what measures `system` on the sentences set aside."""
        columns = self.corpus.held_out
        tokenizers = dict.fromkeys(columns, self.tokenizer)
        rows, tokens = tokenize_columns(columns, tokenizers, longest=longest + 1)
        return TranslationDevelopment(
            system, rows, tokens, mixture, longest=longest, device=self.work.device
        )


def prepare_translation_text(
    work: Workspace, plan: CorpusPlan, *, pieces: int, seed: int, research: bool
) -> TranslationText:
    """Return the corpus of `plan` with a BPE vocabulary of `pieces` for all its languages.

    Args:
        work: Where both are kept.
        plan: What to read.
        pieces: Of the vocabulary.
        seed: Of the sample that it is trained on.
        research: Whether text for research use only is allowed.
    """
    corpus = prepare_corpus(work, plan, research=research)
    vocabulary = prepare_vocabulary(
        work, corpus, VocabularyPlan(pieces=pieces, kind="bpe", seed=seed)
    )
    return TranslationText(work, corpus, vocabulary, SentencePieceTokenizer(vocabulary))
