"""Yu, Li & Oguz 2018: one encoder and one decoder for all languages, and a similarity loss.

A BLSTM below an LSTM; the mean, the maximum or self-attention over the states; a decoder that is
given the target language first and the sentence vector at every step. Pairs with two pivots, both
directions in each batch, and alpha x the squared distance of the two vectors, or in its place the
norm of the encoder's weights (section 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import torch
from torch import nn

from training import paths
from training.data.catalogue import EDITED, EVERYDAY
from training.data.lines import BrokenLines
from training.data.translation import TranslationBatch
from training.data.translation_batches import BatchLimits
from training.data.word_vectors import Array, read_word_vectors
from training.decoders.lstm import LstmDecoder
from training.encoders.recurrent import RecurrentEncoder, blstm_layers, lstm_layers, token_vectors
from training.encoders.states import SentenceEncoder
from training.export import Model
from training.graphs.recurrent import recurrent_graph
from training.loop import Phase
from training.objectives.similarity import squared_distance
from training.objectives.translation import TranslationLoss
from training.objectives.weight_regularisation import recurrent_weight_norm
from training.parameters import (
    TEMPLATES,
    Part,
    Rate,
    Size,
    TranslationParameters,
    Weight,
    europarl,
)
from training.pivots import check_pivots
from training.preparation import corpus_plan, prepare_corpus, provenance
from training.recipe import Recipe, Stage, at_scales
from training.schedules import LinearDecay
from training.sentence_vectors import MaxPooling, MeanPooling, SelfAttention
from training.shared_vocabulary import Unit, prepare_shared_vocabulary, unit_plan
from training.translation import SHARED, ByLanguage, Terms, TranslationSystem
from training.translation_text import TranslationText, translation_options
from training.workspace import Workspace

STAGE = "train"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters(TranslationParameters):
    """What may be changed with `--set`."""

    languages: tuple[str, ...] = ("en", "de", "fr", "es", "it", "pt")
    pivots: tuple[str, ...] = ("en", "es")
    sources: tuple[str, ...] = ("tatoeba", "tatoeba_anki", *EDITED)
    # Departure: SentencePiece in place of words at scale `small`, since a softmax over as many
    # words as six languages need is slow without a GPU.
    unit: Unit = "pieces"
    vocabulary: Size = 8000  # 85,000 words
    word_vectors: str | None = None  # a file in word2vec's text format; multiCCA in the paper
    pooling: Literal["mean", "max", "self-attention"] = "mean"
    embedding: Size = 256  # not given; multiCCA vectors have 512
    width: Size = 256  # of the BLSTM, each way; 512
    dimension: Size = 512  # of the LSTM above it and of a sentence vector; 1024
    decoder_width: Size = 512  # 1024
    similarity: Weight = 3.0  # alpha; not given: "chosen to balance" both terms (section 2.2)
    weight_norm: Weight = 0.0  # the other regulariser
    dropout: Part = 0.1  # not given
    clip: Rate = 5.0
    rate: Rate = 0.001  # Adam's; neither is given
    batch_tokens: Size = 2000  # pads included; not given
    longest: Size = 60

    def __post_init__(self) -> None:
        check_pivots(self.languages, self.pivots)


SCALES = at_scales(
    smoke=Parameters(
        languages=("en", "de", "fr", "es"),
        **TEMPLATES,
        unit="words",
        vocabulary=85_000,
        embedding=32,
        width=32,
        dimension=64,
        decoder_width=64,
        batch_tokens=1000,
        rate=0.01,
        steps=100,
        develop_every=50,
        log_every=10,
    ),
    small=Parameters(
        sources=EVERYDAY,
        vocabulary=5000,
        embedding=128,
        width=128,
        dimension=256,
        decoder_width=256,
        rate=0.002,
        longest=30,
        steps=4000,
    ),
    # How much of Europarl the paper takes is not said: here a million pairs a language.
    paper=Parameters(
        **europarl(1_000_000),
        unit="words",
        vocabulary=85_000,
        embedding=512,
        width=512,
        dimension=1024,
        decoder_width=1024,
        batch_tokens=16_000,
        steps=300_000,  # "about 1.5 days on 4 GPUs"
        develop_every=10_000,
    ),
)


def build_system(p: Parameters, size: int) -> TranslationSystem:
    """Put the parts together; `size` is that of the vocabulary."""
    vectors = token_vectors(size, p.embedding)  # shared by encoder and decoder
    layers = [*blstm_layers(p.embedding, p.width, 1), *lstm_layers(2 * p.width, p.dimension, 1)]
    pooling: dict[str, nn.Module] = {
        "mean": MeanPooling(),
        "max": MaxPooling(),
        "self-attention": SelfAttention(p.dimension),
    }
    encoder = SentenceEncoder(
        RecurrentEncoder(vectors, layers, dropout=p.dropout), pooling[p.pooling]
    )
    decoder = LstmDecoder(
        vectors,
        lstm_layers(p.embedding + p.dimension, p.decoder_width, 1),
        languages=p.languages,
        vector=p.dimension,
        every_step=True,
        dropout=p.dropout,
    )
    return TranslationSystem(
        ByLanguage({SHARED: encoder}),
        ByLanguage({SHARED: decoder}),
        Terms(
            translation=TranslationLoss("sentence"),
            closeness={"similarity": (squared_distance, p.similarity)},
            weights={"weight_norm": (recurrent_weight_norm, p.weight_norm)},
        ),
    )


def build(p: Parameters, work: Workspace) -> Phase[TranslationBatch]:
    """Put system, batches and schedule together."""
    text = _text(p, work)
    system = build_system(p, text.shared.size)
    if p.word_vectors is not None:  # they are trained on (section 2)
        vectors = read_word_vectors(
            Path(p.word_vectors), languages=p.languages, broken=BrokenLines(p.broken, may_skip=True)
        )
        filled = vectors.fill(_token_vectors(system), text.shared.units)
        work.progress.note(f"{filled:,} of {text.shared.size:,} {p.unit} begin with a word vector")
    system.to(work.device)
    return text.phase(
        system,
        paths.even(paths.both_ways(p.languages, p.pivots)),
        limits=BatchLimits(tokens=p.batch_tokens, longest=p.longest),
        optimiser=torch.optim.Adam(system.parameters(), lr=p.rate, fused=True),
        schedule=LinearDecay(p.steps),
        options=translation_options(p, clip=p.clip),
        seed=p.seed,
    )


def model(p: Parameters, work: Workspace) -> Model:
    """Return what is exported: the encoder."""
    text = _text(p, work)
    encoder = work.fill(build_system(p, text.shared.size), STAGE).encoder(SHARED)
    graph = recurrent_graph(encoder, dimension=p.dimension)
    return Model(
        towers={SHARED: text.shared.tower(graph, encoder.rectangle)},
        name="yu",
        family="lstm",
        description=(
            f"A shared BLSTM of {p.width} and LSTM of {p.dimension}, {p.pooling}, trained by "
            "translating both ways with a similarity loss (Yu, Li & Oguz 2018)."
        ),
        space="yu",
        dimension=p.dimension,
        languages=p.languages,
        max_tokens=p.max_tokens,
        pooling=p.pooling,
        research=p.research,
        data=provenance(text.corpus),
    )


def _token_vectors(system: TranslationSystem) -> Array:
    embedding = cast(RecurrentEncoder, system.encoder(SHARED).tokens).embedding
    return embedding.weight.detach().numpy()


def _text(p: Parameters, work: Workspace) -> TranslationText:
    plan = corpus_plan(p, evaluation=("tatoeba",), variants={"pt-pt": "pt", "pt-br": "pt"})
    corpus = prepare_corpus(work, plan, research=p.research)
    unit = unit_plan(p.unit, size=p.vocabulary, seed=p.seed)
    shared = prepare_shared_vocabulary(work, corpus, unit)
    return TranslationText(work, corpus, {SHARED: shared})


RECIPE = Recipe(
    name="yu",
    summary="a shared BLSTM + LSTM, translating both ways, with a similarity loss",
    scales=SCALES,
    minutes=40,
    stages=(Stage(name=STAGE, build=build),),
    model=model,
    systems={
        f"{pooling}{regulariser}": (f"pooling={pooling}", *settings)
        for pooling in ("mean", "max", "self-attention")
        for regulariser, settings in (  # the three figures of a cell of table 2
            ("", ("similarity=0",)),
            (" + weight norm", ("similarity=0", "weight_norm=1e-4")),
            (" + similarity", ()),
        )
    },
    network=lambda p: build_system(p, p.vocabulary),
)
