"""`interlingua-mini`: static vectors with the teacher's layers over them, in one space.

1. `static`: static vectors as the recipe `fast` has them.
2. `layers`: the teacher's layers read these through a network that is fitted to say what they know
   the English words by; then everything is trained at once, sentences of all languages towards the
   teacher's vectors of their English (Reimers & Gurevych 2020, the distillation that Yu et al. 2018
   propose in their conclusion), and ranked among them (Chidambaram et al. 2018).

The teacher's space is never left: its own vectors, those of `interlingua-fast` and these answer one
another.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import AdamW

from service.text.tokenizer import Tokenizer
from training.averaging import blend
from training.data.corpus import Corpus
from training.data.taught_batches import TaughtBatch, TaughtBatches, TaughtPlan
from training.development import HeldOutSearch
from training.devices import fast_dtype
from training.encoders.contextual import ContextualEncoder
from training.encoders.static import flatten_lengths
from training.encoders.token_network import TokenNetwork, fit_token_network, word_pairs
from training.export import Model
from training.graphs.compressed import compressed_graph, round_weights
from training.graphs.static import store
from training.graphs.traced import traced_graph
from training.loop import LoopOptions, Phase
from training.optimisers import RowAdam
from training.parameters import Size
from training.preparation import provenance
from training.recipe import Recipe, Stage, at_scales
from training.recipes import fast
from training.schedules import LinearDecay
from training.served_vocabulary import ServedVocabulary
from training.shared_vocabulary import prepare_shared_tokens
from training.student import Student, StudentWeights
from training.teacher import (
    DIMENSION,
    PLACES,
    SPACE,
    empty_body,
    teacher_parts,
    teacher_tokenizer,
)
from training.translation import SHARED
from training.whitening import Whitened
from training.workspace import Workspace

STATIC = "static"
LAYERS = "layers"
_COUNTED = 150_000  # English sentences whose WordPieces are counted


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
    layers_english: float = 0.25  # part of the sentences that are English
    layers_rate: float = 2e-4  # AdamW's, of the layers and all that they read by
    table_rate: float = 5e-4  # Adam's, of the static vectors
    layers_warm_up: float = 0.02  # part of the steps
    layers_decay: float = 0.25  # part of the steps, at the end
    layers_clip: float = 1.0
    layers_distillation: float = 10.0
    layers_ranking: float = 1.0
    layers_alone: float = 1.0  # both of these for the layers' half alone
    layers_nested: float = 0.3
    layers_temperature: float = 0.05
    layers_negatives: int = 2048
    layers_log_every: int = 20
    layers_develop_every: int = 1000
    layers_compiled: bool = False  # by torch.compile, which needs a C++ compiler
    layers_kept: float = 0.1  # part of the weights before training, in what is exported
    static_weight: float = 1.5  # of the static half

    def __post_init__(self) -> None:
        fast.Parameters.__post_init__(self)
        if not self.distillation:
            raise ValueError("there is no mini without its teacher: distillation is above 0")
        if not 0 < self.layers_decay <= 1 - self.layers_warm_up:
            raise ValueError("layers_decay is above 0, and at most what layers_warm_up leaves")
        if not 0 <= self.layers_kept < 1:
            raise ValueError("layers_kept is 0, or a part below 1")
        if self.max_tokens > PLACES:
            raise ValueError(f"max_tokens is at most {PLACES}: the layers have no more places")


SCALES = at_scales(
    smoke=Parameters(
        **asdict(fast.SCALES["smoke"]) | {"precision": "int4"},
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
    tokens = prepare_shared_tokens(work, corpus.texts, vocabulary, longest=p.longest)
    teacher = fast.teacher_of(p, work, corpus)
    encoder = _encoder(p, work, corpus, vocabulary).to(work.device)
    if p.layers_compiled:
        encoder.body.compile(dynamic=True)
    layers = [weight for name, weight in encoder.named_parameters() if name != "table"]
    return Phase(
        system=_student(p, encoder),
        batches=TaughtBatches(
            corpus,
            tokens,
            teacher,
            fast.mixing_of(p),
            TaughtPlan(
                tokens=p.layers_tokens,
                most=p.layers_most,
                longest=p.layers_longest,
                negatives=p.layers_negatives,
                english=p.layers_english,
            ),
            seed=p.seed,
        ),
        optimisers=(
            AdamW(layers, lr=p.layers_rate, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
            RowAdam([encoder.table], lr=p.table_rate, betas=(0.9, 0.99)),
        ),
        schedule=LinearDecay(
            p.layers_steps, p.layers_warm_up, held=1 - p.layers_warm_up - p.layers_decay
        ),
        develop=HeldOutSearch(encoder, vocabulary.tokenizer, corpus.held_out, work.device),
        options=LoopOptions(
            steps=p.layers_steps,
            log_every=p.layers_log_every,
            develop_every=p.layers_develop_every,
            checkpoint_seconds=p.checkpoint_seconds,
            clip=p.layers_clip,
        ),
    )


def _encoder(
    p: Parameters, work: Workspace, corpus: Corpus, vocabulary: ServedVocabulary
) -> ContextualEncoder:
    """Return the encoder as the second stage begins: the first's vectors, the teacher's layers."""
    table = flatten_lengths(work.trained(STATIC)["encoder.table"].cpu(), p.weight_power)
    words, body = teacher_parts()
    network = TokenNetwork(DIMENSION, p.inner)

    def fit() -> TokenNetwork:
        tokenizer = teacher_tokenizer()
        names = tokenizer.decode(list(range(tokenizer.vocabulary_size)))
        counts = _counts(corpus, tokenizer, p.seed)
        inputs, outputs, rows = word_pairs(table, vocabulary.tokenizer, names, words)
        told = fit_token_network(
            network, inputs, outputs, counts[rows].sqrt(), steps=p.fitting_steps, seed=p.seed
        )
        work.progress.note(f"{len(rows):,} English words, {told:.1%} of their vectors told")
        return network

    def load(path: Path) -> TokenNetwork:
        network.load_state_dict(torch.load(path, weights_only=True))
        return network

    work.progress.title("network: from static vectors to the teacher's words")
    work.keep(
        "network.pt", fit, save=lambda made, path: torch.save(made.state_dict(), path), load=load
    )
    return ContextualEncoder(
        table,
        network,
        body,
        static_weight=p.static_weight,
        products=fast_dtype(work.device) if p.layers_products == "fast" else torch.float32,
    )


def _student(p: Parameters, encoder: ContextualEncoder) -> Student:
    """Return what the second stage trains."""
    weights = StudentWeights(
        distillation=p.layers_distillation,
        ranking=p.layers_ranking,
        alone=p.layers_alone,
        nested=p.layers_nested,
        widths=p.cuts,
        temperature=p.layers_temperature,
    )
    return Student(encoder, weights)


def _counts(corpus: Corpus, tokenizer: Tokenizer, seed: int) -> Tensor:
    """Return how often each of the teacher's WordPieces occurs, float32 [words], 1 at least."""
    english = np.random.default_rng(seed).permutation(corpus.sentences_of("en"))[:_COUNTED]
    tokens = tokenizer.encode([corpus.texts[i] for i in english], max_tokens=64).tokens
    flat = np.fromiter((i for row in tokens for i in row), dtype=np.int64)
    counts = np.bincount(flat, minlength=tokenizer.vocabulary_size)
    return torch.from_numpy(counts).float() + 1


def model(p: Parameters, work: Workspace) -> Model:
    """Return what is exported: table and layers as they are stored, and the same in torch."""
    corpus = fast.corpus_of(p, work)
    vocabulary = fast.vocabulary_of(p, work, corpus)
    encoder = _network(p)
    work.fill(_student(p, encoder), LAYERS)
    if p.layers_kept:
        blend(encoder, _encoder(p, work, corpus, vocabulary), p.layers_kept)
    encoder.body.places = nn.Parameter(encoder.body.places[: p.max_tokens].clone())
    served: ContextualEncoder | Whitened = encoder
    if p.whitening:
        served = Whitened(encoder, fast.whitening_of(p, corpus, vocabulary, encoder))
    if p.precision == "fp32":
        graph = traced_graph(served)
    else:
        table = store(encoder.table.detach().numpy(), p.precision)
        round_weights(served)
        encoder.table = nn.Parameter(torch.from_numpy(table.widened()))
        graph = compressed_graph(traced_graph(served), table=table)
    return Model(
        towers={SHARED: vocabulary.tower(graph, served.rectangle)},
        name="interlingua-mini",
        family="transformer",
        description=(
            "Static token vectors under six transformer layers, for search across languages and "
            "classification. The layers began as those of all-MiniLM-L6-v2 (sentence-transformers, "
            "Apache-2.0) and were changed by training on: sentences of all languages towards that "
            "model's vectors of their English."
        ),
        space=SPACE,
        dimension=p.dimension,
        cuts=p.cuts,
        languages=p.languages,
        max_tokens=p.max_tokens,
        pooling="mean",
        precision=p.precision if p.precision == "fp32" else f"{p.precision} vectors, int8 layers",
        limits=(
            f"Of a text longer than {p.max_tokens} tokens only the beginning counts.",
            "The order of words is read and hardly used: of a sentence's translation and the same "
            "words in another order, the translation is nearer little more often than by chance.",
            "Words of languages that it was not trained for fall into meaningless pieces.",
        ),
        research=p.research,
        data=provenance(corpus),
    )


def _network(p: Parameters) -> ContextualEncoder:
    """Return an encoder of these sizes, untrained."""
    network = TokenNetwork(DIMENSION, p.inner)
    return ContextualEncoder(
        torch.empty(p.pieces, DIMENSION), network, empty_body(), static_weight=p.static_weight
    )


RECIPE = Recipe(
    name="mini",
    summary="static vectors under the teacher's layers; distillation + ranking",
    scales=SCALES,
    minutes=300,
    stages=(Stage(name=STATIC, build=fast.build), Stage(name=LAYERS, build=build_layers)),
    model=model,
    network=_network,
    exported=("precision", "max_tokens", "static_weight", "layers_kept", "whitening"),
)
