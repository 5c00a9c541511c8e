"""A SentencePiece vocabulary on a sample in which every language has its share."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import sentencepiece

from service.errors import InputError
from training.data.corpus import Corpus
from training.served_vocabulary import ServedVocabulary
from training.workspace import Workspace

PieceKind = Literal["unigram", "bpe"]
"""How pieces are found: by a unigram model of text, or by joining the most frequent pairs."""

PADDING_ID = 0
UNKNOWN_ID = 1

_DENSE_SCRIPTS = frozenset({"zh", "ja", "ko"})
"""Languages that say as much in half the characters, so a character counts for two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VocabularyPlan:
    """How the vocabulary is trained."""

    pieces: int
    kind: PieceKind = "unigram"
    sample_characters: int = 5_000_000
    temperature: float = 0.4  # share of a language ~ (its characters) ** temperature
    coverage: float = 0.9995  # of characters; rarer ones become the unknown piece
    longest_piece: int = 14
    normalisation: str = "nmt_nfkc_cf"  # NFKC and case folding, inside the model file
    without: tuple[str, ...] = ()  # sources whose sentences are not sampled
    language_weights: Mapping[str, float] = field(default_factory=dict)  # on that share; 1 if none
    threads: int = 2
    seed: int = 0


def train_vocabulary(
    corpus: Corpus, plan: VocabularyPlan, languages: tuple[str, ...] | None = None
) -> bytes:
    """Return a SentencePiece model file trained on a language-balanced sample of `corpus`.

    Kudo & Richardson 2018. The same corpus, plan and seed give the same bytes.

    Args:
        corpus: Where the sample is drawn from.
        plan: Sizes and kind.
        languages: Those that are sampled; all of the corpus where None.

    Raises:
        InputError: The sample has too little text for so many pieces.
    """
    model = io.BytesIO()
    sample = balanced_sample(corpus, plan, languages or corpus.languages)
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sample),
            model_writer=model,
            vocab_size=plan.pieces,
            model_type=plan.kind,
            normalization_rule_name=plan.normalisation,
            character_coverage=plan.coverage,
            max_sentencepiece_length=plan.longest_piece,
            max_sentence_length=4000,
            num_threads=plan.threads,
            pad_id=PADDING_ID,
            unk_id=UNKNOWN_ID,
            bos_id=-1,
            eos_id=-1,
            seed_sentencepiece_size=max(100_000, 12 * plan.pieces),
            minloglevel=2,
        )
    except RuntimeError as error:
        raise InputError(
            f"SentencePiece cannot make {plan.pieces} pieces of {len(sample)} sentences: {error}.",
            field="vocabulary",
            given=plan.pieces,
            remedy="Ask for fewer pieces or give more text.",
        ) from error
    return model.getvalue()


def balanced_sample(corpus: Corpus, plan: VocabularyPlan, languages: tuple[str, ...]) -> list[str]:
    """Return sentences of which each language has its share of the characters."""
    random = np.random.default_rng(plan.seed)
    sentences = {
        language: random.permutation(corpus.sentences_of(language)) for language in languages
    }
    if plan.without:
        rest = corpus.sentences_outside(plan.without)
        sentences = {
            language: numbers[np.isin(numbers, rest)] for language, numbers in sentences.items()
        }
    weights = {
        language: plan.language_weights.get(language, 1.0)
        * (_characters(corpus, numbers) * _density(language)) ** plan.temperature
        for language, numbers in sentences.items()
        if len(numbers)
    }
    total = sum(weights.values())
    sample: list[str] = []
    for language, weight in weights.items():
        share = plan.sample_characters * weight / total
        sample.extend(_up_to(share, (corpus.texts[i] for i in sentences[language])))
    return sample


def _density(language: str) -> float:
    return 2.0 if language in _DENSE_SCRIPTS else 1.0


def _characters(corpus: Corpus, numbers: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    some = numbers[:2000]
    return sum(len(corpus.texts[i]) for i in some) / len(some) * len(numbers)


def _up_to(characters: float, texts: Iterator[str]) -> Iterator[str]:
    got = 0
    for text in texts:
        if got >= characters:
            return
        got += len(text)
        yield text


def prepare_pieces(
    work: Workspace,
    corpus: Corpus,
    plan: VocabularyPlan,
    languages: tuple[str, ...] | None = None,
    *,
    name: str,
) -> ServedVocabulary:
    """Return the vocabulary of `languages`, of all where None, kept under `name`."""
    file = work.keep_bytes(name, lambda: train_vocabulary(corpus, plan, languages))
    return ServedVocabulary.of_pieces(file)
