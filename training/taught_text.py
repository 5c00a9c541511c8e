"""The text of the encoders that ship, and what a teacher says of its English."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from torch import nn

from service.text.tokenizer import Tokenizer
from training.closeness import ClosenessPlan, fit_closeness, taught_translations
from training.data.corpus import Corpus
from training.data.mixing import Mixing
from training.data.scored_pairs import ScoredPairs
from training.parameters import TEMPLATES, Size, TextParameters, TextSource, Weight
from training.preparation import (
    EVERYTHING,
    LABELLED,
    corpus_plan,
    prepare_corpus,
    prepare_scored_pairs,
)
from training.teacher import TeacherVectors, teach_english
from training.workspace import Workspace

PRIORITY = (
    *("en", "de", "fr", "es", "it", "ru", "zh", "ja"),
    *("ar", "pt", "nl", "pl", "tr", "ko", "hi", "vi"),
)
FURTHER = ("bg", "cs", "da", "el", "fi", "he", "hu", "id", "nb", "ro", "sv", "uk")
PAIRWISE = (
    *("tatoeba", "tatoeba_anki", "small_parallel_enja", "mlqe_pe"),
    *("alt_ja_vi", "indian_wiki", "korean_news"),
)
# Not flores_dev: SIB-200, which topic figures are reported on, is the same text.
LEXICA = ("cldr",)  # words and names; docs/lab-notes.md says what they bring
# Text in English alone, of which the teacher knows what it means.
ENGLISH = ("eltec_en", "mlqa_wiki", "topical_chat", "schema_dialogue", "bcontrast", "xpersona")
NO_SENTENCE_PAIRS = LEXICA + ENGLISH
N_WAY = ("ntrex", "bible_nt", "tico19", "python_docs", "gnome_help", "tldr", "pud")
EDITED = ("ntrex", "tico19", "pud", "mlqe_pe", "korean_news", "indian_wiki")
"""News and encyclopaedias: little text, of the kind that is searched most."""

VARIANTS = {"zh-hant": "zh", "pt-pt": "pt", "pt-br": "pt"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaughtTextParameters(TextParameters):
    """Which text, how it is mixed, and how much of it is taught."""

    languages: tuple[str, ...] = PRIORITY + FURTHER
    sources: tuple[str, ...] = PAIRWISE + N_WAY + LEXICA
    evaluation: tuple[str, ...] = EVERYTHING + LABELLED  # sets no sentence of which is trained on
    further_weight: Weight = 0.6  # of a pair with one of `FURTHER` in the mixture
    n_way_weight: Weight = 0.5  # of n-way sources in the mixture: edited and technical text
    edited_weight: Weight | None = None  # of `EDITED` in it; None leaves them as the others
    lexicon_weight: Weight = 0.3  # of words and names, where `sources` has any
    temperature: Weight = 0.5  # of the mixture of buckets (language pair x source)
    teacher_sentences: Size = 800_000  # English ones that get a vector, 910 a second
    taught_whole: tuple[str, ...] = NO_SENTENCE_PAIRS  # sources whose English is taught besides
    scored: tuple[str, ...] = ("sts_ja_ko",)  # sets of scored pairs that are learnt from


class TaughtSource(TextSource):
    """Where a scale's text is from, with what is measured and learnt beside it."""

    languages: tuple[str, ...]
    evaluation: tuple[str, ...]
    scored: tuple[str, ...]
    teacher_sentences: int


TAUGHT_TEMPLATES: TaughtSource = {
    **TEMPLATES,
    "languages": ("en", "de", "fr", "es", "ja"),
    "evaluation": EVERYTHING,  # heads are fitted on sentences from the same templates
    "scored": ("template_scores",),
    "teacher_sentences": 64,
}
"""Sentences made from templates, for `smoke`."""


def corpus_of(p: TaughtTextParameters, work: Workspace) -> Corpus:
    """Return the text, read and cleaned."""
    plan = corpus_plan(p, evaluation=p.evaluation, variants=VARIANTS, partners=1)
    return prepare_corpus(work, replace(plan, alone=True), research=p.research)


def teacher_of(p: TaughtTextParameters, work: Workspace, corpus: Corpus) -> TeacherVectors:
    """Return the teacher's vectors of the English sentences."""
    return teach_english(work, corpus, p.teacher_sentences, seed=p.seed, always=p.taught_whole)


def scored_of(p: TaughtTextParameters, work: Workspace) -> list[ScoredPairs]:
    """Return the pairs that people have scored."""
    return prepare_scored_pairs(
        work, p.scored, languages=p.languages, evaluation=EVERYTHING, research=p.research
    )


def closeness_of(
    p: TaughtTextParameters,
    work: Workspace,
    corpus: Corpus,
    encoder: nn.Module,
    tokenizer: Tokenizer,
    plan: ClosenessPlan,
) -> npt.NDArray[np.float32] | None:
    """Return the last map [D, D] of vectors; None where there is nothing to fit it on.

    Args:
        p: Names the pairs with scores.
        work: Keeps what is read.
        corpus: Whose translations stay together.
        encoder: On the CPU; ragged sentences to [B, D].
        tokenizer: Its own.
        plan: How it is fitted; no steps is no map.
    """
    pairs = scored_of(p, work) if plan.steps > 0 else []
    if not pairs:
        return None
    work.progress.title("closeness: a map of the vectors towards people's scores")
    translations = taught_translations(
        corpus,
        teacher_of(p, work, corpus),
        mixing_of(p),
        without=NO_SENTENCE_PAIRS,
        most=plan.translations,
        seed=p.seed,
    )
    return fit_closeness(encoder, tokenizer, pairs, translations, plan)


def mixing_of(p: TaughtTextParameters) -> Mixing:
    """Return how often which language and source is drawn."""
    edited = {} if p.edited_weight is None else dict.fromkeys(EDITED, p.edited_weight)
    return Mixing(
        temperature=p.temperature,
        source_weights=dict.fromkeys(N_WAY, p.n_way_weight)
        | dict.fromkeys(LEXICA, p.lexicon_weight)
        | edited,
        language_weights=dict.fromkeys(FURTHER, p.further_weight),
    )
