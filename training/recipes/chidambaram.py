"""Chidambaram et al. 2018: a dual encoder trained on four kinds of tasks in turn.

Translation ranking with mined hard negatives binds the languages, conversational responses and
quick thought in each language and English inference teach meaning. Two stages: `ranking` trains on
translation alone and mines the negatives, `train` on all tasks. `--set tasks=translation` is the
paper's translation-ranking model, `--set vocabulary=pieces` its variant of section 5.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, cast

from torch import nn
from torch.optim import SGD

from training.data.corpus import Corpus, CorpusPlan
from training.data.lines import OnBroken
from training.data.task_batches import CycledTasks, TaskBatch, TaskRows
from training.development import HeldOutSearch
from training.encoders.states import SentenceEncoder
from training.encoders.transformer import TokenEmbedding, TransformerEncoder, make_layer
from training.encoders.word_ngrams import WordNgramEmbedding
from training.export import Model, Tower
from training.feature_vocabulary import (
    FeatureVocabulary,
    prepare_feature_vocabulary,
    prepare_ids,
    word_plan,
)
from training.graphs.traced import traced_graph
from training.loop import LoopOptions, Phase
from training.negatives import with_hard_negatives
from training.objectives.dot_ranking import TranslationRanking
from training.objectives.nli import InferenceHead
from training.objectives.quick_thought import QuickThought
from training.objectives.response import ResponseRanking, ResponseTower
from training.preparation import prepare_corpus, provenance
from training.recipe import Recipe, Scale, Stage
from training.schedules import Constant
from training.sentence_vectors import MeanPooling
from training.task_corpus import (
    EVALUATION,
    INFERENCE,
    QUICK_THOUGHT,
    RESPONSE,
    TASKS,
    TRANSLATION,
    TaskCorpus,
    prepare_task_corpus,
)
from training.tasks import MultiTask
from training.translation import SHARED
from training.vocabulary import VocabularyPlan
from training.workspace import Workspace

RANKING, MAIN = "ranking", "train"
SOURCES = ("tatoeba", "tatoeba_anki", "ntrex", "bible_nt", "tico19", "python_docs", "gnome_help")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What may be changed with `--set`; the defaults are the paper's."""

    languages: tuple[str, ...] = ("en", "de")  # the first is the pivot
    tasks: tuple[str, ...] = TASKS
    sources: tuple[str, ...] = SOURCES
    broken: OnBroken = "refuse"  # what to do about broken lines
    research: bool = False  # whether research-only parallel text is allowed
    held_out_source: str = "ntrex"  # n-way rows of this source ...
    held_out_first: int = 700  # ... from here on are kept for development
    vocabulary: Literal["ngrams", "pieces"] = "ngrams"
    words: int = 200_000
    unknown_buckets: int = 10_000
    ngram_buckets: int = 200_000  # of 3- and 4-grams
    pieces: int = 32_000  # in place of all those; the paper does not say
    embedding: int = 320  # of words and of n-grams
    layers: int = 3
    width: int = 512
    heads: int = 8
    filter: int = 2048
    tower: int = 320  # first layer of a tower; the second is as wide as the encoder
    inference: int = 512  # layer of the inference head
    dropout: float = 0.1  # as in Vaswani et al. 2017; the paper does not say
    negatives: int = 5
    negatives_pool: int = 20_000  # pairs among whose answers they are mined
    batch: int = 100
    rate: float = 0.008
    table_factor: float = 100.0  # on the gradients of word and n-gram vectors
    longest: int = 64  # words of a sentence (section 4.2)
    ranking_steps: int = 3_000_000  # of the stage that mines; the paper does not say
    steps: int = 30_000_000
    log_every: int = 100
    develop_every: int = 2000
    checkpoint_seconds: float = 120.0
    seed: int = 0

    def __post_init__(self) -> None:
        if len(self.languages) < 2:
            raise ValueError("languages are two or more, the pivot first")
        if unknown := sorted(set(self.tasks) - set(TASKS)):
            raise ValueError(f"no task {unknown[0]!r}; there are {', '.join(TASKS)}")
        if TRANSLATION not in self.tasks:
            raise ValueError("tasks must hold translation, which binds the languages")
        if self.width % self.heads:
            raise ValueError(f"{self.heads} heads do not divide a width of {self.width}")


SCALES: Mapping[Scale, Parameters] = MappingProxyType(
    {
        "smoke": Parameters(
            sources=("template_sentences",),
            held_out_source="template_sentences",
            held_out_first=224,
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
        "small": Parameters(
            words=60_000,
            unknown_buckets=3_000,
            ngram_buckets=60_000,
            embedding=160,
            width=256,
            filter=1024,
            tower=160,
            inference=256,
            ranking_steps=6_000,
            steps=30_000,
        ),
        "paper": Parameters(sources=("translations",), held_out_source=""),
    }
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


def build_heads(p: Parameters) -> dict[str, nn.Module]:
    """Return a head a kind of task (section 2.2); languages share them."""

    def tower() -> ResponseTower:
        return ResponseTower(p.width, p.tower)

    heads: dict[str, nn.Module] = {
        TRANSLATION: TranslationRanking(),
        RESPONSE: ResponseRanking(tower()),
        QUICK_THOUGHT: QuickThought(tower(), tower(), tower()),
        INFERENCE: InferenceHead(p.width, inner=p.inference),
    }
    return {name: head for name, head in heads.items() if name in p.tasks}


def build_system(p: Parameters, words: int) -> MultiTask:
    """Return encoder and heads."""
    return MultiTask(build_encoder(p, words), build_heads(p))


def build_optimiser(p: Parameters, system: MultiTask) -> SGD:
    """Return SGD, with the steps of word and n-gram vectors `table_factor` times as long.

    "We multiply the gradient updates to the word and character embeddings by a factor of 100"
    (section 3.2).
    """
    tables = [weight for name, weight in system.named_parameters() if name.endswith("table")]
    others = [weight for name, weight in system.named_parameters() if not name.endswith("table")]
    groups: list[dict[str, Any]] = [
        {"params": tables, "lr": p.rate * p.table_factor},
        {"params": others},
    ]
    return SGD(groups, lr=p.rate)


def build_ranking(p: Parameters, work: Workspace) -> Phase[TaskBatch]:
    """Put together the model that is trained on translation ranking alone, to mine with."""
    corpus = _corpus(p, work)
    tasks = _tasks(p, work, corpus)
    alone = [task for task in tasks.tasks if task.head == TRANSLATION]
    return _phase(p, work, corpus, tasks, alone, steps=p.ranking_steps if p.negatives else 0)


def build(p: Parameters, work: Workspace) -> Phase[TaskBatch]:
    """Put the multi-task model together."""
    corpus = _corpus(p, work)
    tasks = _tasks(p, work, corpus)
    if not p.negatives:
        return _phase(p, work, corpus, tasks, tasks.tasks, steps=p.steps)
    vocabulary = _vocabulary(p, work, corpus)
    miner = build_system(p, vocabulary.words).to(work.device)
    miner.load_state_dict(work.trained(RANKING))
    mined = with_hard_negatives(
        work,
        miner.encoder,
        tasks,
        prepare_ids(work, tasks.texts, vocabulary, longest=p.longest),
        count=p.negatives,
        pool=p.negatives_pool,
        longest=p.longest,
        seed=p.seed,
    )
    return _phase(p, work, corpus, tasks, mined, steps=p.steps)


def _phase(
    p: Parameters,
    work: Workspace,
    corpus: Corpus,
    texts: TaskCorpus,
    tasks: list[TaskRows],
    *,
    steps: int,
) -> Phase[TaskBatch]:
    vocabulary = _vocabulary(p, work, corpus)
    system = build_system(p, vocabulary.words).to(work.device)
    return Phase(
        system=system,
        batches=CycledTasks(
            tasks,
            prepare_ids(work, texts.texts, vocabulary, longest=p.longest),
            size=p.batch,
            longest=p.longest,
            seed=p.seed,
        ),
        optimisers=(build_optimiser(p, system),),
        schedule=Constant(),
        develop=HeldOutSearch(system.encoder, vocabulary.tokenizer, corpus.held_out, work.device),
        options=LoopOptions(
            steps=steps,
            log_every=p.log_every,
            develop_every=p.develop_every,
            checkpoint_seconds=p.checkpoint_seconds,
        ),
    )


def model(p: Parameters, work: Workspace) -> Model:
    """Return what is exported: the shared encoder."""
    corpus = _corpus(p, work)
    vocabulary = _vocabulary(p, work, corpus)
    system = build_system(p, vocabulary.words)
    system.load_state_dict(work.trained(MAIN))
    encoder = cast(SentenceEncoder, system.encoder.eval())
    tower = Tower(
        graph=traced_graph(encoder, features=(4,) if vocabulary.ngrams else ()),
        reference=encoder.rectangle,
        tokenizer=vocabulary.file,
        tokenizer_kind=vocabulary.kind,
        vocabulary=vocabulary.tokenizer.vocabulary_size,
        ngrams=vocabulary.ngrams,
    )
    return Model(
        towers={SHARED: tower},
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
        precision="fp32",
        limits=(
            "Trained on conversations, running text and inference of mixed licences as well as on "
            "translations: for research, not to be shipped.",
        )
        if set(p.tasks) != {TRANSLATION} or p.research
        else (),
        licence="Research use only"
        if set(p.tasks) != {TRANSLATION} or p.research
        else "Apache-2.0",
        data=provenance(corpus),
    )


def _corpus(p: Parameters, work: Workspace) -> Corpus:
    plan = CorpusPlan(
        sources=p.sources,
        languages=p.languages,
        pivot=p.languages[0],
        partners=0,
        held_out_source=p.held_out_source or None,
        held_out_rows=(p.held_out_first, 1_000_000),
        evaluation=EVALUATION,
        broken=p.broken,
        seed=p.seed,
    )
    return prepare_corpus(work, plan, research=p.research)


def _tasks(p: Parameters, work: Workspace, corpus: Corpus) -> TaskCorpus:
    return prepare_task_corpus(work, corpus, p.tasks, pivot=p.languages[0], broken=p.broken)


def _vocabulary(p: Parameters, work: Workspace, corpus: Corpus) -> FeatureVocabulary:
    if p.vocabulary == "pieces":
        return prepare_feature_vocabulary(
            work, corpus, VocabularyPlan(pieces=p.pieces, seed=p.seed)
        )
    return prepare_feature_vocabulary(
        work,
        corpus,
        word_plan(words=p.words, unknown_buckets=p.unknown_buckets, ngram_buckets=p.ngram_buckets),
    )


def _most_words(p: Parameters) -> int:
    return p.pieces if p.vocabulary == "pieces" else 1 + p.unknown_buckets + p.words


RECIPE = Recipe(
    name="chidambaram",
    summary="Chidambaram et al. 2018: word + n-gram transformer; four kinds of tasks in turn",
    scales=SCALES,
    minutes=180,
    stages=(Stage(name=RANKING, build=build_ranking), Stage(name=MAIN, build=build)),
    model=model,
    systems={
        "multi-task": (),
        "multi-task, pieces": ("vocabulary=pieces",),
        "translation-ranking": ("tasks=translation",),
    },
    network=lambda p: build_system(p, _most_words(p)),
)
