"""`interlingua-fast`: token vectors, added up.

Hermann & Blunsom's additive composition (2013, section 3.1) brought up to date: one SentencePiece
vocabulary for all languages, in-batch ranking of translations both ways in place of the hinge with
noise samples, and distillation of English vectors from all-MiniLM-L6-v2, which brings similarity of
meaning where ranking alone brings translations together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from training.closeness import ClosenessPlan
from training.data.batches import PairBatch, PairBatches, Sentences
from training.data.corpus import Corpus
from training.data.mixing import make_buckets
from training.data.scored_pairs import ScoredPairs
from training.development import HeldOutSearch
from training.encoders.static import StaticEncoder, flatten_lengths, random_table
from training.encoders.warm_start import teacher_table
from training.export import Model
from training.graphs.static import Precision, static_graph, store
from training.loop import LoopOptions, Phase
from training.objectives.distillation import Distillation
from training.objectives.ranking import InBatchRanking, NestedRanking
from training.optimisers import RowAdam
from training.parameters import Part, Rate, Size, Weight
from training.preparation import provenance
from training.recipe import Recipe, Stage, at_scales
from training.schedules import LinearDecay
from training.served_vocabulary import ServedVocabulary
from training.shared_vocabulary import prepare_shared_tokens, prepare_shared_vocabulary
from training.system import DualEncoder, Weighted
from training.taught_text import (
    FURTHER,
    LEXICA,
    NO_SENTENCE_PAIRS,
    TAUGHT_TEMPLATES,
    TaughtTextParameters,
    closeness_of,
    corpus_of,
    mixing_of,
    scored_of,
    teacher_of,
)
from training.teacher import SPACE
from training.translation import SHARED
from training.vocabulary import PieceKind, VocabularyPlan
from training.whitening import fit_whitening
from training.workspace import Workspace

STAGE = "train"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters(TaughtTextParameters):
    """What may be changed with `--set`."""

    pieces: Size = 56_000
    pieces_kind: PieceKind = "unigram"
    further_pieces: Rate = 1.0  # of a further language's share of the vocabulary's sample
    vocabulary_characters: Size = 6_000_000  # sampled to train the vocabulary
    dimension: Size = 384  # the teacher's, where there is one
    cuts: tuple[int, ...] = (256, 128, 64)  # widths that vectors may be cut to
    longest: Size = 64  # tokens of a training sentence
    batch: Size = 2048  # pairs
    steps: Size
    rate: Rate = 0.02
    warm_up: Part = 0.03  # part of the steps
    ranking_temperature: Rate = 0.07
    margin: Weight = 0.0
    nested: Weight = 0.5  # weight of ranking by the first dimensions
    distillation: Weight = 5.0  # weight; 0 trains without a teacher
    weight_power: float = 0.8  # of token weights when the training is over; 1 leaves them alone
    whitening: float = 0.2  # of what is exported; 0 leaves the vectors as they were trained
    scored_steps: int = 400  # of that fit; 0 leaves the vectors as they are
    scored_kept: Weight = 100.0  # weight of where vectors are, in it
    precision: Precision = "int4"  # of the stored table
    max_tokens: Size = 512  # of a text that is served
    log_every: int = 50
    develop_every: int = 500
    checkpoint_seconds: float = 120.0

    def __post_init__(self) -> None:
        if self.distillation and self.dimension != 384:
            raise ValueError(
                "dimension is the teacher's 384 where there is distillation; "
                "set distillation=0 for another"
            )
        if any(not 0 < cut < self.dimension for cut in self.cuts):
            raise ValueError(f"cuts lie between 0 and the dimension, {self.dimension}")
        if not 0 <= self.weight_power <= 1:
            raise ValueError("weight_power lies between 0 and 1")
        if not 0 <= self.whitening <= 1:
            raise ValueError("whitening lies between 0 and 1")
        if self.batch < 4 or self.steps < 1:
            raise ValueError("batch is at least 4 and steps at least 1")


SCALES = at_scales(
    smoke=Parameters(
        **TAUGHT_TEMPLATES,
        scored_steps=20,
        pieces=256,
        vocabulary_characters=100_000,
        batch=64,
        steps=80,
        max_tokens=64,
        log_every=10,
        develop_every=40,
    ),
    small=Parameters(steps=4500),
    # Hermann & Blunsom train on 500,000 Europarl pairs a language; this is the same system on
    # whatever the folder holds, three times as long, for a machine with more cores.
    paper=Parameters(steps=16_500, teacher_sentences=1_000_000),
)


def build(p: Parameters, work: Workspace) -> Phase[PairBatch]:
    """Put the parts together."""
    corpus = corpus_of(p, work)
    _scored(p, work)  # kept for the export, which may have no data folder
    vocabulary = _vocabulary(p, work, corpus)
    tokens = prepare_shared_tokens(work, corpus.texts, vocabulary, longest=p.longest)
    if p.distillation:
        teacher = teacher_of(p, work, corpus)
        occurrences = np.bincount(tokens.ids, minlength=vocabulary.size)
        encoder = StaticEncoder(teacher_table(vocabulary.units, occurrences, seed=p.seed))
    else:
        teacher = None
        encoder = StaticEncoder(random_table(vocabulary.size, p.dimension, seed=p.seed))
    system = DualEncoder(
        encoder,
        {
            "ranking": Weighted(InBatchRanking(temperature=p.ranking_temperature, margin=p.margin)),
            "nested": Weighted(
                NestedRanking(widths=p.cuts, temperature=p.ranking_temperature, margin=p.margin),
                p.nested if p.cuts else 0.0,
            ),
            "distillation": Weighted(Distillation(), p.distillation),
        },
    ).to(work.device)
    has_tokens = np.asarray((tokens.lengths[corpus.pairs] > 0).all(axis=1))
    return Phase(
        system=system,
        batches=PairBatches(
            corpus,
            tokens,
            make_buckets(corpus, mixing_of(p), has_tokens),
            size=p.batch,
            longest=p.longest,
            seed=p.seed,
            teacher=teacher,
        ),
        optimisers=(RowAdam(encoder.parameters(), lr=p.rate),),
        schedule=LinearDecay(p.steps, p.warm_up),
        develop=HeldOutSearch(encoder, vocabulary.tokenizer, corpus.held_out, work.device),
        options=LoopOptions(
            steps=p.steps,
            log_every=p.log_every,
            develop_every=p.develop_every,
            checkpoint_seconds=p.checkpoint_seconds,
        ),
    )


def model(p: Parameters, work: Workspace) -> Model:
    """Return what is exported: the table as it is stored, and the same in torch."""
    corpus = corpus_of(p, work)
    vocabulary = _vocabulary(p, work, corpus)
    table = _exported_table(p, work, corpus, vocabulary)
    plan = ClosenessPlan(
        # Without a teacher the last map would have nothing to keep the vectors to.
        steps=p.scored_steps if p.distillation else 0,
        kept=p.scored_kept,
        longest=p.longest,
        seed=p.seed,
    )
    closeness = closeness_of(p, work, corpus, StaticEncoder(table), vocabulary.tokenizer, plan)
    if closeness is not None:
        table = table @ torch.from_numpy(closeness)
    stored = store(table.numpy(), p.precision)
    encoder = StaticEncoder(torch.from_numpy(stored.widened()))

    def reference(ids: Tensor, mask: Tensor) -> Tensor:
        vectors: Tensor = encoder(Sentences.from_padded(ids, mask))
        return vectors

    return Model(
        towers={SHARED: vocabulary.tower(static_graph(stored), reference)},
        name="interlingua-fast",
        family="static",
        description=(
            "A sentence's vector is the mean of its tokens' learned vectors. Fast on any CPU; "
            "trained by ranking translations"
            + (" and by distillation from all-MiniLM-L6-v2." if p.distillation else ".")
        ),
        space=SPACE if p.distillation else "interlingua-fast",
        dimension=p.dimension,
        cuts=p.cuts,
        languages=p.languages,
        max_tokens=p.max_tokens,
        pooling="mean",
        precision=p.precision,
        limits=(
            "The order of words is not seen: sentences of the same words are the same.",
            "Negation and small words weigh little.",
            "Words of languages that it was not trained for fall into meaningless pieces.",
        ),
        research=p.research,
        data=provenance(corpus, _scored(p, work)),
    )


def _exported_table(
    p: Parameters, work: Workspace, corpus: Corpus, vocabulary: ServedVocabulary
) -> Tensor:
    """Return the table flattened and whitened, float32 [V, D]."""
    table = flatten_lengths(work.trained(STAGE)["encoder.table"].cpu(), p.weight_power)
    if not p.whitening:
        return table
    # A mean is linear, so what is done to the tokens' vectors is done to the sentences'.
    whitening = _whitening(p, corpus, vocabulary, StaticEncoder(table))
    return table @ torch.from_numpy(whitening)


def _vocabulary(p: Parameters, work: Workspace, corpus: Corpus) -> ServedVocabulary:
    """Return the vocabulary of all languages."""
    plan = VocabularyPlan(
        pieces=p.pieces,
        kind=p.pieces_kind,
        language_weights=dict.fromkeys(FURTHER, p.further_pieces),
        sample_characters=p.vocabulary_characters,
        without=NO_SENTENCE_PAIRS,
        seed=p.seed,
    )
    return prepare_shared_vocabulary(work, corpus, plan)


def _whitening(
    p: Parameters, corpus: Corpus, vocabulary: ServedVocabulary, encoder: nn.Module
) -> npt.NDArray[np.float32]:
    """Return the symmetric map [D, D] that vectors of `encoder` get before they are exported."""
    return fit_whitening(
        encoder,
        corpus,
        vocabulary.tokenizer,
        p.whitening,
        without=LEXICA,
        longest=p.longest,
        seed=p.seed,
    )


def _scored(p: Parameters, work: Workspace) -> list[ScoredPairs]:
    return scored_of(p, work) if p.distillation else []


RECIPE = Recipe(
    name="fast",
    summary="static token vectors, mean; ranking + distillation",
    scales=SCALES,
    minutes=22,
    stages=(Stage(name=STAGE, build=build),),
    model=model,
    network=lambda p: StaticEncoder(torch.empty(p.pieces, p.dimension)),
    exported=(
        *("precision", "weight_power", "whitening", "scored_steps", "scored_kept"),
        "max_tokens",
    ),
)
