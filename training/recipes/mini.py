"""`interlingua-mini`: the teacher's layers in all languages, and static vectors beside them.

1. `static`: static vectors as the recipe `fast` has them.
2. `layers`: the teacher's layers read these through a network that is fitted to say what they know
   the English words by; then everything is trained at once, sentences of all languages towards the
   teacher's vectors of their English (Reimers & Gurevych 2020, the distillation that Yu et al. 2018
   propose in their conclusion), and ranked among them (Chidambaram et al. 2018).
3. `settled`: the layers alone, in the form in which they are stored: 4 bits a weight, and what they
   read of a token in a byte for every four numbers.
4. `beside`: static vectors of a second vocabulary, trained by themselves. They are what stands
   beside the layers in the end; those of the first vocabulary have done their work.

The teacher's space is never left: its own vectors, those of `interlingua-fast` and these answer one
another.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import nn
from torch.optim import AdamW

from training.averaging import blend
from training.closeness import Summand
from training.data.batches import PairBatch
from training.data.corpus import Corpus
from training.data.scored_batches import ScoredBatches
from training.data.taught_batches import TaughtBatch, TaughtBatches, TaughtPlan
from training.development import HeldOutSearch
from training.devices import fast_dtype
from training.encoders.beside import Beside
from training.encoders.contextual import ContextualEncoder
from training.encoders.mapped import Mapped
from training.encoders.product_vectors import ProductVectors, product_vectors
from training.encoders.settled import SettledLayers
from training.encoders.static import StaticEncoder, flatten_lengths
from training.encoders.token_network import TokenNetwork
from training.export import Model
from training.loop import LoopOptions, Phase
from training.mini_model import mini_model
from training.mini_parts import MiniParts, parts_of_bundle
from training.optimisers import RowAdam
from training.parameters import Part, Rate, Size, Weight
from training.preparation import joined, provenance
from training.recipe import Recipe, Stage, at_scales
from training.recipes import fast
from training.rounding import keep_rounded, leave_rounded
from training.schedules import LinearDecay
from training.served_vocabulary import ServedVocabulary
from training.shared_vocabulary import prepare_shared_tokens
from training.student import Student, StudentWeights
from training.teacher import (
    DIMENSION,
    PLACES,
    empty_body,
    teacher_parts,
)
from training.vocabulary import PieceKind
from training.words_network import NetworkPlan, network_to_words
from training.workspace import Workspace

STATIC, LAYERS, SETTLED, BESIDE = "static", "layers", "settled", "beside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters(fast.Parameters):
    """What may be changed with `--set`; those of the static vectors are the recipe `fast`'s."""

    sources: tuple[str, ...] = fast.PAIRWISE + fast.N_WAY + fast.LEXICA + fast.ENGLISH
    inner: Size = 1024  # of the network below the layers
    fitting_steps: int = 1500  # of that network, before all else
    layers_steps: Size
    layers_tokens: Size = 4096  # of a batch, pads included
    layers_most: Size = 320  # sentences of a batch
    layers_longest: Size = 64  # tokens of a training sentence
    layers_products: Literal["fast", "fp32"] = "fast"  # fast: bf16 where the device has it
    layers_english: Part = 0.25  # part of the sentences that are English
    layers_rate: Rate = 2e-4  # AdamW's, of the layers and all that they read by
    table_rate: Rate = 5e-4  # Adam's, of the static vectors
    layers_warm_up: Part = 0.02  # part of the steps
    layers_decay: float = 0.25  # part of the steps, at the end
    layers_clip: Rate = 1.0
    layers_distillation: Weight = 10.0
    layers_ranking: Weight = 1.0
    layers_alone: Weight = 1.0  # both of these for the layers' half alone
    layers_nested: Weight = 0.3
    layers_temperature: Rate = 0.05
    layers_negatives: int = 2048
    layers_log_every: int = 20
    layers_develop_every: int = 1000
    layers_compiled: bool = False  # by torch.compile, which needs a C++ compiler
    layers_kept: Part = 0.1  # part of the weights before training, in what comes after
    static_weight: Weight = 1.5  # of the static half, as the layers are trained
    read_parts: Size = 96  # of what the layers read of a token: a byte each
    settled_steps: int = 2400  # 0, with `start`, leaves the layers as they are there
    settled_rate: Rate = 1e-4  # AdamW's, of the layers
    settled_books_rate: Rate = 5e-4  # and of what they read
    settled_decay: float = 0.6  # part of the steps, at the end
    settled_kept: Part = 0.1  # part of the teacher's own layers, in what is exported
    settled_scores: Weight = 5.0  # of people's scores of pairs
    settled_pairs: Size = 32  # with scores, of a batch
    # A bundle of this recipe whose layers are settled further; all else is as it is there.
    start: str | None = None
    beside_pieces: Size = 52_000  # of the second vocabulary ...
    beside_kind: PieceKind = "bpe"  # ... which cuts otherwise
    beside_further: Weight = 0.35  # of a further language's share of its sample
    beside_power: float = 0.6  # `weight_power` of its vectors
    beside_weight: Weight = 1.0  # of their sum, where the layers have 1

    def __post_init__(self) -> None:
        fast.Parameters.__post_init__(self)
        if not self.distillation:
            raise ValueError("there is no mini without its teacher: distillation is above 0")
        for decay in (self.layers_decay, self.settled_decay):
            if not 0 < decay <= 1 - self.layers_warm_up:
                raise ValueError("a decay is above 0, and at most what layers_warm_up leaves")
        if not self.settled_steps and self.start is None:
            raise ValueError("settled_steps is 0 only where layers are taken from a bundle: start")
        if not 0 <= self.beside_power <= 1:
            raise ValueError("beside_power lies between 0 and 1")
        if self.dimension % self.read_parts:
            raise ValueError("read_parts divides the dimension")
        if self.max_tokens > PLACES:
            raise ValueError(f"max_tokens is at most {PLACES}: the layers have no more places")


SCALES = at_scales(
    smoke=Parameters(
        **asdict(fast.SCALES["smoke"]) | {"precision": "int4"},
        beside_pieces=192,
        settled_steps=16,
        fitting_steps=20,
        layers_steps=32,
        layers_tokens=600,
        layers_products="fp32",
        layers_most=32,
        layers_negatives=32,
        layers_log_every=8,
        layers_develop_every=16,
    ),
    small=Parameters(steps=4500, layers_steps=16_000, max_tokens=256),
    paper=Parameters(steps=16_500, layers_steps=100_000, max_tokens=256),
)


def build_layers(p: Parameters, work: Workspace) -> Phase[TaughtBatch]:
    """Put the parts of the second stage together."""
    corpus = fast.corpus_of(p, work)
    vocabulary = fast.vocabulary_of(p, work, corpus)
    encoder = _encoder(p, work, corpus, vocabulary).to(work.device)
    if p.layers_compiled:
        encoder.body.compile(dynamic=True)
    layers = [weight for name, weight in encoder.named_parameters() if name != "table"]
    return Phase(
        system=Student(encoder, _weights(p)),
        batches=_batches(p, work, corpus, vocabulary, seed=p.seed),
        optimisers=(
            AdamW(layers, lr=p.layers_rate, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
            RowAdam([encoder.table], lr=p.table_rate, betas=(0.9, 0.99)),
        ),
        schedule=LinearDecay(
            p.layers_steps, p.layers_warm_up, held=1 - p.layers_warm_up - p.layers_decay
        ),
        develop=HeldOutSearch(encoder, vocabulary.tokenizer, corpus.held_out, work.device),
        options=_options(p, p.layers_steps),
    )


def _batches(
    p: Parameters,
    work: Workspace,
    corpus: Corpus,
    vocabulary: ServedVocabulary,
    *,
    scored: ScoredBatches | None = None,
    seed: int,
) -> TaughtBatches:
    """Return what the layers are trained on."""
    plan = TaughtPlan(
        tokens=p.layers_tokens,
        most=p.layers_most,
        longest=p.layers_longest,
        negatives=p.layers_negatives,
        english=p.layers_english,
    )
    tokens = prepare_shared_tokens(work, corpus.texts, vocabulary, longest=p.longest)
    teacher = fast.teacher_of(p, work, corpus)
    return TaughtBatches(corpus, tokens, teacher, fast.mixing_of(p), plan, scored=scored, seed=seed)


def _options(p: Parameters, steps: int) -> LoopOptions:
    return LoopOptions(
        steps=steps,
        log_every=p.layers_log_every,
        develop_every=p.layers_develop_every,
        checkpoint_seconds=p.checkpoint_seconds,
        clip=p.layers_clip,
    )


def _encoder(
    p: Parameters, work: Workspace, corpus: Corpus, vocabulary: ServedVocabulary
) -> ContextualEncoder:
    """Return the encoder as the second stage begins: the first's vectors, the teacher's layers."""
    table = flatten_lengths(work.trained(STATIC)["encoder.table"].cpu(), p.weight_power)
    words, body = teacher_parts()
    plan = NetworkPlan(inner=p.inner, steps=p.fitting_steps, seed=p.seed)
    network = network_to_words(work, corpus, table, vocabulary.tokenizer, words, plan)
    return ContextualEncoder(
        table, network, body, static_weight=p.static_weight, products=_products(p, work)
    )


def build_settled(p: Parameters, work: Workspace) -> Phase[TaughtBatch]:
    """Put the parts of the third stage together."""
    # Before the text is read, which takes minutes: it may be no bundle to go on from.
    started = None if p.start is None else _started(p, work)
    corpus = fast.corpus_of(p, work)
    if started is None:
        vocabulary = fast.vocabulary_of(p, work, corpus)
        encoder = _settling(p, work, corpus, vocabulary)
    else:
        vocabulary, encoder = started.vocabulary, started.layers
    encoder.products = _products(p, work)
    keep_rounded(encoder)
    encoder = encoder.to(work.device)
    layers = encoder.body.parameters()
    scored = _scored(p, work, vocabulary)
    return Phase(
        system=Student(encoder, replace(_weights(p), alone=0.0)),
        batches=_batches(p, work, corpus, vocabulary, scored=scored, seed=p.seed + 1),
        optimisers=(
            AdamW(layers, lr=p.settled_rate, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
            AdamW([encoder.read.books], lr=p.settled_books_rate, weight_decay=0.0, fused=True),
        ),
        schedule=LinearDecay(
            p.settled_steps, p.layers_warm_up, held=1 - p.layers_warm_up - p.settled_decay
        ),
        develop=HeldOutSearch(encoder, vocabulary.tokenizer, corpus.held_out, work.device),
        options=_options(p, p.settled_steps),
    )


def _started(p: Parameters, work: Workspace) -> MiniParts:
    return parts_of_bundle(
        work, str(p.start), empty_body(), read_parts=p.read_parts, places=p.max_tokens
    )


def _scored(p: Parameters, work: Workspace, vocabulary: ServedVocabulary) -> ScoredBatches | None:
    pairs = fast.scored_of(p, work) if p.settled_scores else []
    if not pairs:
        return None
    return ScoredBatches(
        pairs, vocabulary.tokenizer, size=p.settled_pairs, longest=p.layers_longest, seed=p.seed
    )


def _settling(
    p: Parameters, work: Workspace, corpus: Corpus, vocabulary: ServedVocabulary
) -> SettledLayers:
    """Return the layers as the third stage begins: the second's, rounded."""
    encoder = ContextualEncoder(
        torch.empty(vocabulary.size, DIMENSION), TokenNetwork(DIMENSION, p.inner), empty_body()
    )
    work.fill(Student(encoder, _weights(p)), LAYERS)
    if p.layers_kept:
        blend(encoder, _encoder(p, work, corpus, vocabulary), p.layers_kept)
    tokens = prepare_shared_tokens(work, corpus.texts, vocabulary, longest=p.longest)
    with torch.inference_mode():
        read = encoder.network(encoder.table).numpy()
    occurrences = np.bincount(tokens.ids, minlength=vocabulary.size)
    books = product_vectors(read, occurrences, parts=p.read_parts, seed=p.seed)
    return SettledLayers(books, encoder.body)


def _products(p: Parameters, work: Workspace) -> torch.dtype:
    return fast_dtype(work.device) if p.layers_products == "fast" else torch.float32


def build_beside(p: Parameters, work: Workspace) -> Phase[PairBatch]:
    """Put the parts of the fourth stage together."""
    return fast.build(_beside(p), work, part=f"-{BESIDE}")


def _beside(p: Parameters) -> Parameters:
    return replace(
        p,
        pieces=p.beside_pieces,
        pieces_kind=p.beside_kind,
        further_pieces=p.beside_further,
        weight_power=p.beside_power,
    )


def _weights(p: Parameters) -> StudentWeights:
    return StudentWeights(
        scores=p.settled_scores,
        distillation=p.layers_distillation,
        ranking=p.layers_ranking,
        alone=p.layers_alone,
        nested=p.layers_nested,
        widths=p.cuts,
        temperature=p.layers_temperature,
    )


def model(p: Parameters, work: Workspace) -> Model:
    """Return what is exported: layers and table as they are stored, and the same in torch."""
    corpus = fast.corpus_of(p, work)
    made = _made(p, work, corpus)
    parts = (
        Summand(Mapped(made.layers, made.map), made.vocabulary.tokenizer),
        Summand(StaticEncoder(made.table), made.second.tokenizer, p.beside_weight),
    )
    closeness = fast.closeness_of(p, work, corpus, parts)
    data = joined(made.data, provenance(corpus, fast.scored_of(p, work)))
    return mini_model(made, closeness, p, weight=p.beside_weight, data=data)


def _made(p: Parameters, work: Workspace, corpus: Corpus) -> MiniParts:
    """Return all that was trained, before the last map."""
    if p.start is not None:
        made = _started(p, work)
        _finish(made.layers, p, work)
        return made
    vocabulary = fast.vocabulary_of(p, work, corpus)
    read = ProductVectors.empty(vocabulary.size, DIMENSION, p.read_parts)
    layers = SettledLayers(read, empty_body())
    _finish(layers, p, work)
    second = fast.vocabulary_of(_beside(p), work, corpus, part=f"-{BESIDE}")
    return MiniParts(
        vocabulary,
        layers,
        fast.whitening_of(p, corpus, vocabulary, layers),
        second,
        fast.exported_table(_beside(p), work, corpus, second, stage=BESIDE),
    )


def _finish(layers: SettledLayers, p: Parameters, work: Workspace) -> None:
    """Give `layers` the weights that the third stage came to, as they are stored."""
    if not p.settled_steps:
        return
    keep_rounded(layers)
    work.fill(Student(layers, _weights(p)), SETTLED)
    if p.settled_kept:
        start = teacher_parts()[1]
        start.places = nn.Parameter(start.places[: len(layers.body.places)].clone())
        keep_rounded(start)
        blend(layers.body, start, p.settled_kept)
    leave_rounded(layers)
    layers.body.places = nn.Parameter(layers.body.places[: p.max_tokens].clone())


def _network(p: Parameters) -> nn.Module:
    """Return what is exported, untrained."""
    read = ProductVectors.empty(p.pieces, DIMENSION, p.read_parts)
    table = torch.empty(p.beside_pieces, DIMENSION)
    return Beside(SettledLayers(read, empty_body()), table, weight=p.beside_weight)


def _from_nothing(p: Parameters) -> bool:
    return p.start is None


def _settles(p: Parameters) -> bool:
    return p.settled_steps > 0


RECIPE = Recipe(
    name="mini",
    summary="the teacher's layers beside static vectors; distillation + ranking",
    scales=SCALES,
    minutes=350,
    stages=(
        Stage(name=STATIC, build=fast.build, needed=_from_nothing),
        Stage(name=LAYERS, build=build_layers, needed=_from_nothing),
        Stage(name=SETTLED, build=build_settled, needed=_settles),
        Stage(name=BESIDE, build=build_beside, needed=_from_nothing),
    ),
    model=model,
    network=_network,
    exported=(
        *("precision", "max_tokens", "whitening", "scored_steps", "scored_kept"),
        *("settled_kept", "beside_power", "beside_weight"),
    ),
)
