"""The text of systems that learn by translating: from a corpus and vocabularies to a phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from torch import Tensor
from torch.optim import Optimizer

from service.text.tokenizer import Tokenizer
from training.data.corpus import Corpus
from training.data.parallel_rows import joined_rows, without_long
from training.data.tokens import TokenTable
from training.data.translation import TranslationBatch
from training.data.translation_batches import BatchLimits, TranslationBatches
from training.decoders.unigram import log_frequencies
from training.language_vocabularies import prepare_language_tokens, tokenize_columns
from training.loop import LoopOptions, Phase, Precision, require_watched
from training.parameters import TextParameters, TranslationParameters
from training.paths import Mixture, TrainingPath
from training.preparation import EVERYTHING, corpus_plan, prepare_corpus
from training.schedules import Schedule
from training.served_vocabulary import ServedVocabulary
from training.shared_vocabulary import prepare_shared_tokens, prepare_shared_vocabulary
from training.translation import SHARED, TranslationSystem
from training.translation_development import TranslationDevelopment
from training.vocabulary import VocabularyPlan
from training.workspace import Workspace


@dataclass(frozen=True, slots=True)
class TranslationText:
    """A corpus and its vocabularies.

    Attributes:
        work: Where tokens are kept.
        corpus: Training text and what was set aside of it.
        vocabularies: Language, or `SHARED` for one that all of them share, -> vocabulary.
    """

    work: Workspace
    corpus: Corpus
    vocabularies: Mapping[str, ServedVocabulary]

    @property
    def shared(self) -> ServedVocabulary:
        """The vocabulary of all languages."""
        return self.vocabularies[SHARED]

    @property
    def sizes(self) -> dict[str, int]:
        """Language, or `SHARED`, -> ids of its vocabulary."""
        return {language: vocabulary.size for language, vocabulary in self.vocabularies.items()}

    @property
    def tokenizers(self) -> dict[str, Tokenizer]:
        """Language -> tokenizer."""
        if SHARED in self.vocabularies:
            return dict.fromkeys(self.corpus.languages, self.shared.tokenizer)
        return {language: known.tokenizer for language, known in self.vocabularies.items()}

    def batches(self, mixture: Mixture, *, limits: BatchLimits, seed: int) -> TranslationBatches:
        """Return batches along the paths of `mixture`."""
        rows = joined_rows(self.corpus, "en")
        return TranslationBatches(
            rows, self._tokens(limits.longest), mixture, limits=limits, seed=seed
        )

    def log_frequencies(self, path: TrainingPath, target: str, *, longest: int) -> Tensor:
        """Return float32 [V], the log of how often each id is due in one walk along `path`.

        Args:
            path: Whose rows are walked through.
            target: The language that is written; its vocabulary has the V ids.
            longest: Tokens; rows with a longer sentence are left out, as `batches` does.
        """
        tokens = self._tokens(longest)
        rows = without_long(joined_rows(self.corpus, "en"), tokens, longest=longest)
        due = rows.complete(path.languages)[:, path.languages.index(target)]
        vocabulary = SHARED if SHARED in self.vocabularies else target
        return log_frequencies(tokens, due, self.sizes[vocabulary])

    def development(
        self, system: TranslationSystem, mixture: Mixture, *, longest: int
    ) -> TranslationDevelopment:
        """Return what measures `system` on the sentences set aside."""
        held_out = self.corpus.held_out
        rows, tokens = tokenize_columns(held_out, self.tokenizers, longest=longest + 1)
        return TranslationDevelopment(
            system, rows, tokens, mixture, longest=longest, device=self.work.device
        )

    def phase(
        self,
        system: TranslationSystem,
        mixture: Mixture,
        *,
        limits: BatchLimits,
        optimiser: Optimizer,
        schedule: Schedule,
        options: LoopOptions,
        seed: int,
    ) -> Phase[TranslationBatch]:
        """Return the training of `system` along the paths of `mixture`.

        Args:
            system: On its device.
            mixture: The paths.
            limits: Of a batch and its sentences; longer ones are left out of development too.
            optimiser: Of the system's weights.
            schedule: Of its rate.
            options: How long.
            seed: Of the batches.

        Raises:
            InputError: A path has no rows, or what chooses the best weights cannot be measured.
        """
        development = self.development(system, mixture, longest=limits.longest)
        if options.watch and options.develop_every:  # now, not after hours of training
            require_watched(options.watch, development.measured)
        return Phase(
            system=system,
            batches=self.batches(mixture, limits=limits, seed=seed),
            optimisers=(optimiser,),
            schedule=schedule,
            develop=development,
            options=options,
        )

    def _tokens(self, longest: int) -> TokenTable:
        # One token more than may be, so that what is too long is known and left out, not cut.
        if SHARED in self.vocabularies:
            texts = self.corpus.texts
            return prepare_shared_tokens(self.work, texts, self.shared, longest=longest + 1)
        return prepare_language_tokens(self.work, self.corpus, self.tokenizers, longest=longest + 1)


def prepare_translation_text(p: TextParameters, work: Workspace, *, pieces: int) -> TranslationText:
    """Return the recipe's corpus with a BPE vocabulary of `pieces` for all its languages.

    Args:
        p: Its parameters.
        work: Where both are kept.
        pieces: Of the vocabulary.
    """
    corpus = prepare_corpus(
        work, corpus_plan(p, evaluation=EVERYTHING, partners=1), research=p.research
    )
    vocabulary = VocabularyPlan(pieces=pieces, kind="bpe", seed=p.seed)
    shared = prepare_shared_vocabulary(work, corpus, vocabulary)
    return TranslationText(work, corpus, {SHARED: shared})


Watch = Literal["search_error", "perplexity"]
"""A figure of `TranslationDevelopment`."""


def translation_options(
    p: TranslationParameters,
    *,
    steps: int | None = None,
    watch: Watch = "search_error",
    clip: float | None = None,
    precision: Precision = "fp32",
) -> LoopOptions:
    """Return the options of a system that translates; of what is watched, less is better.

    Args:
        p: The recipe's parameters.
        steps: How many; the parameters' where None.
        watch: The development figure that decides which weights are best.
        clip: Greatest norm of the gradient.
        precision: Of products.
    """
    return LoopOptions(
        steps=p.steps if steps is None else steps,
        log_every=p.log_every,
        develop_every=p.develop_every,
        watch=watch,
        better="lower",
        clip=clip,
        precision=precision,
    )
