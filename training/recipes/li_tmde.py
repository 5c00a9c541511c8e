"""Li 2021, chapter 4: T-MDE, a transformer whose first state holds the sentence.

T-MDE           pyramid=false beta=0                the decoder sees that state alone
T-MDE_F         pyramid=false beta=0 sees=states    the decoder sees all of them
T-MDE_P         beta=0                              learned rows gather what the layers say
cT-MDE(_P)      pyramid=false, or as it is          with the distance constraint
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

from training.data.catalogue import EVERYDAY
from training.data.translation import TranslationBatch
from training.decoders.transformer import (
    TransformerDecoder,
    make_decoder_layer,
    sentence_memory,
    states_memory,
)
from training.encoders.pyramid import PyramidEncoder
from training.encoders.states import SentenceEncoder
from training.encoders.transformer import (
    TokenEmbedding,
    TransformerEncoder,
    TransformerLayer,
    make_layer,
)
from training.export import Model
from training.graphs.traced import traced_graph
from training.loop import Phase
from training.parameters import TEMPLATES, Part, Rate, Size, Weight, europarl
from training.pivots import PivotParameters, check_pivots, pivot_model, pivot_phase, pivot_terms
from training.recipe import Recipe, Stage, at_scales
from training.schedules import InverseSquareRoot
from training.sentence_vectors import FirstState
from training.translation import SHARED, ByLanguage, TranslationSystem
from training.translation_text import prepare_translation_text
from training.workspace import Workspace

STAGE = "train"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters(PivotParameters):
    """What may be changed with `--set`."""

    pyramid: bool = True  # section 4.2.2
    sees: Literal["vector", "states"] = "vector"  # what the decoder sees: states is T-MDE_F
    width: Size = 1024  # table 4.1, as what follows
    layers: Size = 6
    heads: Size = 16
    inner: Size = 4096
    rows: Size = 32  # learned rows of the pyramid
    dropout: Part = 0.3  # 4.3.1, footnote, as what follows
    rate: Rate = 5e-4  # Adam's, at its peak
    warm_up: Size = 4000  # steps
    cool_down: int = 0  # steps at the end in which the rate falls to 0; not in the thesis
    smoothing: Part = 0.1
    decay: Weight = 1e-4

    def __post_init__(self) -> None:
        check_pivots(self.languages, self.pivots)
        if self.width % self.heads:
            raise ValueError(f"width is a multiple of the {self.heads} heads")
        if self.pyramid and (self.rows % 4 or self.layers < 2):
            raise ValueError("the pyramid needs two layers and rows that can be halved twice")
        if not 0 <= self.cool_down <= self.steps:
            raise ValueError(f"cool_down is a part of the {self.steps:,} steps")

    @property
    def name(self) -> str:
        """The system's name in the thesis."""
        variant = ("-f" if self.sees == "states" else "") + ("-p" if self.pyramid else "")
        return ("c" if self.beta else "") + "t-mde" + variant


SCALES = at_scales(
    smoke=Parameters(
        languages=("en", "de", "fr", "es"),
        **TEMPLATES,
        pieces=260,
        width=32,
        layers=2,
        heads=4,
        inner=64,
        rows=8,
        dropout=0.0,
        rate=4e-3,
        warm_up=20,
        batch_tokens=400,
        longest=60,
        steps=80,
        develop_every=40,
        log_every=10,
        max_tokens=64,
    ),
    small=Parameters(
        sources=EVERYDAY,
        pieces=5000,
        width=128,
        layers=3,
        heads=4,
        inner=512,
        rows=16,
        dropout=0.1,
        rate=1e-3,
        warm_up=300,
        batch_tokens=1200,
        longest=30,
        steps=3000,
        develop_every=500,
        max_tokens=256,
    ),
    # Europarl v7, about 1.9 million sentences in each of eight directions: some 18 epochs
    # ("Ten to twenty epochs were run", 4.3.1).
    paper=Parameters(
        **europarl(1_900_000),
        precision="bf16",
        steps=60_000,
    ),
)


def build_system(p: Parameters, pieces: int) -> TranslationSystem:
    """Put the parts together; `pieces` is the size of the vocabulary."""

    def layer() -> TransformerLayer:
        return make_layer(p.width, heads=p.heads, inner=p.inner, dropout=p.dropout, norm_first=True)

    transformer = TransformerEncoder(
        TokenEmbedding(pieces, p.width),
        [layer() for _ in range(p.layers)],
        width=p.width,
        dropout=p.dropout,
        first_token=True,
    )
    # The pyramid has a seventh layer (table 4.1).
    tokens = PyramidEncoder(transformer, layer(), rows=p.rows) if p.pyramid else transformer
    decoder = TransformerDecoder(
        TokenEmbedding(pieces, p.width),
        # "It has six encoder layers and one decoder layer" (section 4.2).
        [
            make_decoder_layer(
                p.width, heads=p.heads, inner=p.inner, dropout=p.dropout, vector=p.width
            )
        ],
        states_memory if p.sees == "states" else sentence_memory,
        languages=p.pivots,
        dropout=p.dropout,
    )
    return TranslationSystem(
        ByLanguage({SHARED: SentenceEncoder(tokens, FirstState())}),
        ByLanguage({SHARED: decoder}),
        pivot_terms(p, smoothing=p.smoothing),
    )


def build(p: Parameters, work: Workspace) -> Phase[TranslationBatch]:
    """Put system, batches and schedule together."""
    text = prepare_translation_text(p, work, pieces=p.pieces)
    system = build_system(p, text.shared.size).to(work.device)
    return pivot_phase(
        p,
        text,
        system,
        # fairseq's Adam decays the weights apart from the gradient, as AdamW does.
        optimiser=torch.optim.AdamW(
            system.parameters(), lr=p.rate, betas=(0.9, 0.98), weight_decay=p.decay, fused=True
        ),
        schedule=InverseSquareRoot(p.warm_up, last=p.steps, cool_down=p.cool_down),
    )


def model(p: Parameters, work: Workspace) -> Model:
    """Return what is exported."""
    text = prepare_translation_text(p, work, pieces=p.pieces)
    encoder = work.fill(build_system(p, text.shared.size), STAGE).encoder(SHARED)
    graph = traced_graph(encoder)
    return pivot_model(
        p,
        text,
        text.shared.tower(graph, encoder.rectangle),
        name=p.name,
        family="transformer",
        dimension=p.width,
        pooling="first",
    )


RECIPE = Recipe(
    name="li-tmde",
    summary="T-MDE, _F, _P, cT-MDE(_P): transformer, vector of the first token, pivot languages",
    scales=SCALES,
    minutes=30,
    stages=(Stage(name=STAGE, build=build),),
    model=model,
    systems={
        "T-MDE": ("pyramid=false", "beta=0"),
        "T-MDE_F": ("pyramid=false", "beta=0", "sees=states"),
        "T-MDE_P": ("beta=0",),
        "cT-MDE": ("pyramid=false",),
        "cT-MDE_P": (),
    },
    network=lambda p: build_system(p, p.pieces),
)
