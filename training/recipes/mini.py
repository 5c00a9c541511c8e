"""`interlingua-mini`: layers that know many languages, brought into an English teacher's space.

The layers are those of multilingual-e5-small (Wang et al. 2024), over the pieces of its vocabulary
that our languages use; what they read of a piece is kept in parts, their products have weights of 4
bits. A linear map brings their vectors near those of all-MiniLM-L6-v2. Then all of it is trained:
sentences of all languages towards the teacher's vectors of their English (Reimers & Gurevych 2020,
the distillation that Yu et al. 2018 propose in their conclusion), ranked among them (Chidambaram et
al. 2018), with people's scores of pairs in the loss.

The teacher's space is never left: its own vectors, those of `interlingua-fast` and these answer one
another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn
from torch.optim import AdamW

from service.errors import InputError
from service.text.tokenizer import Tokenizer
from training.averaging import blend
from training.closeness import ClosenessPlan
from training.data.corpus import Corpus
from training.data.scored_batches import ScoredBatches
from training.data.scored_pairs import ScoredPairs
from training.data.taught_batches import TaughtBatch, TaughtBatches, TaughtPlan
from training.development import HeldOutSearch
from training.devices import fast_dtype
from training.e5 import PLACES, empty_body
from training.encoders.product_vectors import ProductVectors
from training.encoders.settled import SettledLayers
from training.export import Model
from training.graphs.static import Precision
from training.loop import LoopOptions, Phase
from training.mini_model import mini_model
from training.mini_parts import MiniParts, parts_of_bundle
from training.mini_start import MARKS, StartPlan, start
from training.parameters import Part, Rate, Size, Weight
from training.preparation import joined, provenance
from training.recipe import Recipe, Stage, at_scales
from training.rounding import keep_rounded, leave_rounded
from training.schedules import LinearDecay
from training.served_vocabulary import ServedVocabulary
from training.shared_vocabulary import prepare_shared_tokens
from training.student import Student, StudentWeights
from training.taught_text import (
    EDITED,
    ENGLISH,
    FURTHER,
    LEXICA,
    N_WAY,
    NO_SENTENCE_PAIRS,
    PAIRWISE,
    TAUGHT_TEMPLATES,
    TaughtTextParameters,
    closeness_of,
    corpus_of,
    mixing_of,
    scored_of,
    teacher_of,
)
from training.teacher import DIMENSION
from training.whitening import fit_whitening
from training.workspace import Workspace

STAGE = "train"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters(TaughtTextParameters):
    """What may be changed with `--set`."""

    sources: tuple[str, ...] = PAIRWISE + N_WAY + LEXICA + ENGLISH
    taught_whole: tuple[str, ...] = NO_SENTENCE_PAIRS + EDITED
    teacher_sentences: Size = 400_000
    # A bundle of this recipe that is trained on; None begins with multilingual-e5-small.
    start: str | None = None
    pieces: Size = 106_000  # that are kept of its vocabulary
    further_pieces: Rate = 0.35  # weight of a further language where pieces are counted
    read_parts: Size = 96  # of what the layers read of a piece: a byte each
    fitted: Size = 250  # translations of a language that the first map is fitted on
    cuts: tuple[int, ...] = (256, 128, 64)  # widths that vectors may be cut to
    longest: Size = 64  # tokens of a training sentence
    steps: int  # 0, with `start`, leaves the layers as they are there
    tokens: Size = 1536  # of a batch, pads included
    most: Size = 320  # sentences of a batch
    products: Literal["fast", "fp32"] = "fast"  # fast: bf16 where the device has it
    english: Part = 0.25  # part of the sentences that are English
    rate: Rate = 1.5e-4  # AdamW's, of the layers
    books_rate: Rate = 3e-4  # and of what they read
    warm_up: Part = 0.03  # part of the steps
    decay: float = 0.6  # part of the steps, at the end
    clip: Rate = 1.0
    distillation: Rate = 10.0
    ranking: Weight = 1.0
    nested: Weight = 0.3
    ranking_temperature: Rate = 0.05
    negatives: Size = 2048
    scores: Weight = 5.0  # of people's scores of pairs
    scored_pairs: Size = 8  # with scores, of a batch
    kept: Part = 0.4  # part of the weights before training, in what is exported
    whitening: float = 0.4  # of what is exported; 0 leaves the vectors as they were trained
    scored_steps: int = 400  # of a last map of what is exported; 0 is none
    scored_translations: Size = 1200  # of a language, that it is fitted on
    scored_kept: Weight = 10.0  # weight of where vectors are, in it
    scored_taught: Weight = 8.0  # and of being found by the teacher's own
    precision: Precision = "int4"  # of the stored layers
    max_tokens: Size = 256  # of a text that is served
    log_every: int = 20
    develop_every: int = 2000
    checkpoint_seconds: float = 120.0

    def __post_init__(self) -> None:
        if not 0 < self.decay <= 1 - self.warm_up:
            raise ValueError("decay is above 0, and at most what warm_up leaves")
        if not self.steps and self.start is None:
            raise ValueError("steps is 0 only where layers are taken from a bundle: start")
        if self.steps < 0:
            raise ValueError("steps is 0 or more")
        if not 0 <= self.whitening <= 1:
            raise ValueError("whitening lies between 0 and 1")
        if DIMENSION % self.read_parts:
            raise ValueError(f"read_parts divides the dimension, {DIMENSION}")
        if self.max_tokens > PLACES - MARKS:
            raise ValueError(f"max_tokens is at most {PLACES - MARKS}: layers have no more places")
        if any(not 0 < cut < DIMENSION for cut in self.cuts):
            raise ValueError(f"cuts lie between 0 and the dimension, {DIMENSION}")


SCALES = at_scales(
    smoke=Parameters(
        **TAUGHT_TEMPLATES,
        pieces=400,
        fitted=5,
        steps=16,
        tokens=240,
        most=32,
        products="fp32",
        rate=1e-4,
        books_rate=2e-4,
        negatives=32,
        scored_pairs=6,
        scored_steps=20,
        scored_translations=20,
        max_tokens=64,
        log_every=4,
        develop_every=8,
    ),
    small=Parameters(steps=4300),
    paper=Parameters(steps=12_000, teacher_sentences=800_000),
)


def build(p: Parameters, work: Workspace) -> Phase[TaughtBatch]:
    """Put the parts together."""
    # Before the text is read, which takes minutes: it may be no bundle to go on from.
    started = _of_bundle(p, work)
    corpus = corpus_of(p, work)
    made = started or _of_e5(p, work, corpus)
    encoder = made.layers
    encoder.products = _products(p, work.device)
    keep_rounded(encoder.body)
    encoder = encoder.to(work.device)
    own = [*encoder.body.parameters(), encoder.marks, encoder.map.weight]
    return Phase(
        system=Student(encoder, _weights(p)),
        batches=_batches(p, work, corpus, made.vocabulary),
        optimisers=(
            AdamW(own, lr=p.rate, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
            AdamW([encoder.read.books], lr=p.books_rate, weight_decay=0.0, fused=True),
        ),
        schedule=LinearDecay(p.steps, p.warm_up, held=1 - p.warm_up - p.decay),
        develop=HeldOutSearch(encoder, made.vocabulary.tokenizer, corpus.held_out, work.device),
        options=LoopOptions(
            steps=p.steps,
            log_every=p.log_every,
            develop_every=p.develop_every,
            checkpoint_seconds=p.checkpoint_seconds,
            clip=p.clip,
        ),
    )


def _begun(p: Parameters, work: Workspace, corpus: Corpus) -> MiniParts:
    """Return what training began with."""
    return _of_bundle(p, work) or _of_e5(p, work, corpus)


def _of_e5(p: Parameters, work: Workspace, corpus: Corpus) -> MiniParts:
    plan = StartPlan(
        pieces=p.pieces,
        piece_weights=dict.fromkeys(FURTHER, p.further_pieces),
        read_parts=p.read_parts,
        fitted=p.fitted,
        longest=p.longest,
        without=NO_SENTENCE_PAIRS,
        seed=p.seed,
    )
    return start(work, corpus, lambda: teacher_of(p, work, corpus), mixing_of(p), plan)


def _of_bundle(p: Parameters, work: Workspace) -> MiniParts | None:
    if p.start is None:
        return None
    made = parts_of_bundle(work, p.start)
    most = len(made.layers.body.places) - MARKS
    if p.max_tokens > most:
        raise InputError(
            f"The layers of {p.start} have places for {most} tokens.",
            field="max_tokens",
            given=p.max_tokens,
            remedy=f"Set at most that: --set max_tokens={most}.",
        )
    return made


def _batches(
    p: Parameters, work: Workspace, corpus: Corpus, vocabulary: ServedVocabulary
) -> TaughtBatches:
    """Return what the layers are trained on."""
    plan = TaughtPlan(
        tokens=p.tokens,
        most=p.most,
        longest=p.longest,
        negatives=p.negatives,
        english=p.english,
    )
    tokens = prepare_shared_tokens(work, corpus.texts, vocabulary, longest=p.longest)
    teacher = teacher_of(p, work, corpus)
    scored = _scored(p, work, vocabulary)
    return TaughtBatches(corpus, tokens, teacher, mixing_of(p), plan, scored=scored, seed=p.seed)


def _scored(p: Parameters, work: Workspace, vocabulary: ServedVocabulary) -> ScoredBatches | None:
    pairs = _pairs(p, work)  # kept for the export, which may have no data folder
    if not pairs or not p.scores:
        return None
    return ScoredBatches(
        pairs, vocabulary.tokenizer, size=p.scored_pairs, longest=p.longest, seed=p.seed
    )


def _pairs(p: Parameters, work: Workspace) -> list[ScoredPairs]:
    """Return the pairs with scores, where training or the last map learns from them."""
    return scored_of(p, work) if p.scores or p.scored_steps > 0 else []


def _weights(p: Parameters) -> StudentWeights:
    return StudentWeights(
        scores=p.scores,
        distillation=p.distillation,
        ranking=p.ranking,
        nested=p.nested,
        widths=p.cuts,
        temperature=p.ranking_temperature,
    )


def model(p: Parameters, work: Workspace) -> Model:
    """Return what is exported: the layers as they are stored, and the same in torch."""
    corpus = corpus_of(p, work)
    made = _begun(p, work, corpus)
    if p.steps:
        keep_rounded(made.layers.body)
        work.fill(Student(made.layers, _weights(p)), STAGE)
        if p.kept:
            before = _begun(p, work, corpus).layers
            keep_rounded(before.body)
            blend(made.layers, before, p.kept)
        leave_rounded(made.layers.body)
    layers = made.layers
    layers.body.places = nn.Parameter(layers.body.places[: MARKS + p.max_tokens].detach().clone())
    _map_last(p, work, corpus, layers, made.vocabulary.tokenizer)
    data = joined(made.data, provenance(corpus, _pairs(p, work)))
    return mini_model(
        made,
        languages=p.languages,
        cuts=p.cuts,
        max_tokens=p.max_tokens,
        precision=p.precision,
        research=p.research,
        data=data,
    )


def _map_last(
    p: Parameters, work: Workspace, corpus: Corpus, layers: SettledLayers, tokenizer: Tokenizer
) -> None:
    """Whiten the vectors of `layers` in part, then bring them nearer to scores and the teacher."""
    exported, layers.products = layers.products, _products(p, torch.device("cpu"))
    if p.whitening:
        matrix = fit_whitening(
            layers,
            corpus,
            tokenizer,
            p.whitening,
            without=LEXICA,
            longest=p.longest,
            seed=p.seed,
        )
        layers.follow(matrix)
    plan = ClosenessPlan(
        steps=p.scored_steps,
        kept=p.scored_kept,
        taught=p.scored_taught,
        translations=p.scored_translations,
        longest=p.longest,
        seed=p.seed,
    )
    closeness = closeness_of(p, work, corpus, layers, tokenizer, plan)
    if closeness is not None:
        layers.follow(closeness)
    layers.products = exported


def _products(p: Parameters, device: torch.device) -> torch.dtype:
    return fast_dtype(device) if p.products == "fast" else torch.float32


def _network(p: Parameters) -> nn.Module:
    """Return what is exported, untrained."""
    read = ProductVectors.empty(p.pieces, DIMENSION, p.read_parts)
    return SettledLayers(read, empty_body(), torch.zeros(MARKS, DIMENSION))


def _trains(p: Parameters) -> bool:
    return p.steps > 0


RECIPE = Recipe(
    name="mini",
    summary="multilingual-e5-small's layers in an English teacher's space; distillation + ranking",
    scales=SCALES,
    minutes=100,
    stages=(Stage(name=STAGE, build=build, needed=_trains),),
    model=model,
    network=_network,
    exported=(
        *("precision", "max_tokens", "whitening", "kept"),
        *("scored_steps", "scored_translations", "scored_kept", "scored_taught"),
    ),
)
