"""Chidambaram et al. 2018: a dual encoder trained on four kinds of tasks in turn.

Translation ranking with mined hard negatives binds the languages, conversational responses and
quick thought in each language and English inference teach meaning. Two stages: `ranking` trains on
translation alone and mines the negatives, `train` on all tasks. `--set tasks=translation` is the
paper's translation-ranking model, `--set vocabulary=pieces` its variant of section 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from torch import nn

from service.text.vocabulary import NgramPlan
from training.data.catalogue import EVERYDAY
from training.data.task_batches import TaskBatch, TaskRows
from training.encoders.states import SentenceEncoder
from training.encoders.transformer import TokenEmbedding, TransformerEncoder, make_layer
from training.encoders.word_ngrams import WordNgramEmbedding
from training.export import Model
from training.graphs.traced import traced_graph
from training.loop import LoopOptions, Phase
from training.objectives.dot_ranking import TranslationRanking
from training.objectives.nli import InferenceHead
from training.objectives.quick_thought import QuickThought
from training.objectives.response import ResponseRanking, ResponseTower
from training.optimisers import sgd_with_table_factor
from training.parameters import TEMPLATES, Part, Rate, Size, TextParameters
from training.preparation import corpus_plan, prepare_corpus, provenance
from training.recipe import Recipe, Stage, at_scales
from training.sentence_vectors import MeanPooling
from training.shared_vocabulary import prepare_shared_vocabulary
from training.task_corpus import (
    EVALUATION,
    INFERENCE,
    QUICK_THOUGHT,
    RESPONSE,
    TASKS,
    TRANSLATION,
    prepare_task_corpus,
)
from training.task_text import TaskText
from training.tasks import MultiTask
from training.translation import SHARED
from training.vocabulary import VocabularyPlan
from training.word_vocabulary import WordPlan
from training.workspace import Workspace

RANKING, MAIN = "ranking", "train"
SOURCES = ("tatoeba", "tatoeba_anki", "ntrex", "bible_nt", "tico19", "python_docs", "gnome_help")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters(TextParameters):
    """What may be changed with `--set`; the defaults are the paper's."""

    languages: tuple[str, ...] = ("en", "de")  # the first is the pivot
    tasks: tuple[str, ...] = TASKS
    sources: tuple[str, ...] = SOURCES
    vocabulary: Literal["ngrams", "pieces"] = "ngrams"
    words: Size = 200_000
    unknown_buckets: Size = 10_000
    ngram_buckets: Size = 200_000  # of 3- and 4-grams
    pieces: Size = 32_000  # in place of all those; the paper does not say
    embedding: Size = 320  # of words and of n-grams
    layers: Size = 3
    width: Size = 512
    heads: Size = 8
    filter: Size = 2048
    tower: Size = 320  # first layer of a tower; the second is as wide as the encoder
    inference: Size = 512  # layer of the inference head
    dropout: Part = 0.1  # as in Vaswani et al. 2017; the paper does not say
    negatives: int = 5
    negatives_pool: Size = 20_000  # pairs among whose answers they are mined
    batch: Size = 100
    rate: Rate = 0.008
    table_factor: Rate = 100.0  # on the gradients of word and n-gram vectors
    longest: Size = 64  # words of a sentence (section 4.2)
    ranking_steps: int = 3_000_000  # of the stage that mines; the paper does not say
    steps: Size = 30_000_000
    log_every: int = 100
    develop_every: int = 2000
    checkpoint_seconds: float = 120.0

    def __post_init__(self) -> None:
        if len(self.languages) < 2:
            raise ValueError("languages are two or more, the pivot first")
        if unknown := sorted(set(self.tasks) - set(TASKS)):
            raise ValueError(f"no task {unknown[0]!r}; there are {', '.join(TASKS)}")
        if TRANSLATION not in self.tasks:
            raise ValueError("tasks must hold translation, which binds the languages")
        if self.width % self.heads:
            raise ValueError(f"{self.heads} heads do not divide a width of {self.width}")


SCALES = at_scales(
    smoke=Parameters(
        **TEMPLATES,
        words=500,
        unknown_buckets=10,
        ngram_buckets=500,
        pieces=90,
        embedding=24,
        layers=2,
        width=32,
        heads=4,
        filter=64,
        tower=24,
        inference=32,
        dropout=0.0,
        batch=24,
        rate=0.05,  # few steps, so longer ones
        table_factor=10.0,  # fewer words, so each is seen more often
        ranking_steps=60,
        steps=240,
        log_every=24,
        develop_every=60,
    ),
    small=Parameters(
        sources=EVERYDAY,
        words=30_000,
        unknown_buckets=1_500,
        ngram_buckets=30_000,
        pieces=8_000,
        embedding=96,
        width=128,
        heads=4,
        filter=512,
        tower=96,
        inference=128,
        longest=40,
        ranking_steps=500,
        steps=1_600,
        develop_every=400,
    ),
    paper=Parameters(sources=("translations",), held_out_source=""),
)


def build_encoder(p: Parameters, words: int) -> SentenceEncoder:
    """Return the shared encoder g (section 2.1) for so many ids of words or pieces."""
    layers = [
        make_layer(p.width, heads=p.heads, inner=p.filter, dropout=p.dropout, norm_first=False)
        for _ in range(p.layers)
    ]
    embedding: nn.Module
    if p.vocabulary == "pieces":
        embedding = TokenEmbedding(words, p.width)
    else:
        ngrams = 1 + p.ngram_buckets
        embedding = WordNgramEmbedding(words=words, ngrams=ngrams, size=p.embedding, width=p.width)
    tokens = TransformerEncoder(embedding, layers, width=p.width, dropout=p.dropout)
    return SentenceEncoder(tokens, MeanPooling())


def build_system(p: Parameters, words: int) -> MultiTask:
    """Return encoder and heads, a head a kind of task (section 2.2); languages share them."""
    encoder = build_encoder(p, words)

    def tower() -> ResponseTower:
        return ResponseTower(p.width, p.tower)

    heads: dict[str, nn.Module] = {
        TRANSLATION: TranslationRanking(),
        RESPONSE: ResponseRanking(tower()),
        QUICK_THOUGHT: QuickThought(tower(), tower(), tower()),
        INFERENCE: InferenceHead(p.width, inner=p.inference),
    }
    return MultiTask(encoder, {name: head for name, head in heads.items() if name in p.tasks})


def build_ranking(p: Parameters, work: Workspace) -> Phase[TaskBatch]:
    """Put together the model that is trained on translation ranking alone, to mine with."""
    text = _text(p, work)
    return _phase(p, text, text.translation, steps=p.ranking_steps if p.negatives else 0)


def build(p: Parameters, work: Workspace) -> Phase[TaskBatch]:
    """Put the multi-task model together."""
    text = _text(p, work)
    tasks = text.tasks.tasks
    if p.negatives:
        miner = work.fill(build_system(p, text.vocabulary.size), RANKING).to(work.device)
        tasks = text.with_hard_negatives(
            miner, count=p.negatives, pool=p.negatives_pool, seed=p.seed
        )
    return _phase(p, text, tasks, steps=p.steps)


def _phase(p: Parameters, text: TaskText, tasks: list[TaskRows], *, steps: int) -> Phase[TaskBatch]:
    system = build_system(p, text.vocabulary.size).to(text.work.device)
    return text.phase(
        system,
        tasks,
        size=p.batch,
        # "We multiply the gradient updates to the word and character embeddings by a factor of
        # 100" (section 3.2).
        optimiser=sgd_with_table_factor(system, lr=p.rate, factor=p.table_factor),
        options=LoopOptions(
            steps=steps,
            log_every=p.log_every,
            develop_every=p.develop_every,
            checkpoint_seconds=p.checkpoint_seconds,
        ),
        seed=p.seed,
    )


def model(p: Parameters, work: Workspace) -> Model:
    """Return what is exported: the shared encoder."""
    text = _text(p, work)
    system = work.fill(build_system(p, text.vocabulary.size), MAIN)
    encoder = cast(SentenceEncoder, system.encoder)
    graph = traced_graph(encoder, features=(4,) if text.vocabulary.ngrams else ())
    mixed = set(p.tasks) != {TRANSLATION}
    return Model(
        towers={SHARED: text.vocabulary.tower(graph, encoder.rectangle)},
        name="chidambaram",
        family="transformer",
        description=(
            "Chidambaram et al. 2018: words with character n-grams through a transformer, trained "
            f"on {', '.join(p.tasks)} in turn."
        ),
        space="-".join(("chidambaram", *p.languages)),
        dimension=p.width,
        languages=p.languages,
        max_tokens=p.longest,
        pooling="mean",
        limits=("Its conversations, running text and examples of inference have mixed licences.",)
        if mixed
        else (),
        research=p.research or mixed,
        data=provenance(text.corpus),
    )


def _text(p: Parameters, work: Workspace) -> TaskText:
    plan = corpus_plan(p, evaluation=EVALUATION, pivot=p.languages[0])
    corpus = prepare_corpus(work, plan, research=p.research)
    tasks = prepare_task_corpus(work, corpus, p.tasks, pivot=p.languages[0], broken=p.broken)
    vocabulary: VocabularyPlan | WordPlan
    if p.vocabulary == "pieces":
        vocabulary = VocabularyPlan(pieces=p.pieces, seed=p.seed)
    else:
        vocabulary = WordPlan(
            words=p.words,
            lower=False,  # the paper says nothing of lower case
            unknown_buckets=p.unknown_buckets,
            ngrams=NgramPlan(sizes=(3, 4), buckets=p.ngram_buckets),  # section 3.2
        )
    shared = prepare_shared_vocabulary(work, corpus, vocabulary)
    return TaskText(work, corpus, tasks, shared, p.longest)


def _most_words(p: Parameters) -> int:
    return p.pieces if p.vocabulary == "pieces" else 1 + p.unknown_buckets + p.words


RECIPE = Recipe(
    name="chidambaram",
    summary="Chidambaram et al. 2018: word + n-gram transformer; four kinds of tasks in turn",
    scales=SCALES,
    minutes=25,
    stages=(Stage(name=RANKING, build=build_ranking), Stage(name=MAIN, build=build)),
    model=model,
    systems={
        "multi-task": (),
        "multi-task, pieces": ("vocabulary=pieces",),
        "translation-ranking": ("tasks=translation",),
    },
    network=lambda p: build_system(p, _most_words(p)),
)
