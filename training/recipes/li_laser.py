"""Li 2021, chapter 4: LASER as the thesis trains it again, and cLASER.

    LASER_1, LASER_6    layers=1 beta=0, layers=6 beta=0
    cLASER              with the distance constraint

After Artetxe & Schwenk 2019: a BiLSTM for all languages, max-pooling, an LSTM decoder that is told
sentence and language at every step, and pivot languages.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from training.data.translation import TranslationBatch
from training.decoders.laser import LaserDecoder
from training.encoders.recurrent import RecurrentEncoder, blstm_layers, token_vectors
from training.encoders.states import SentenceEncoder
from training.export import Model
from training.graphs.recurrent import recurrent_graph
from training.loop import Phase
from training.parameters import TEMPLATES, Part, Rate, Size, europarl
from training.pivots import PivotParameters, check_pivots, pivot_model, pivot_phase, pivot_terms
from training.recipe import Recipe, Stage, at_scales
from training.schedules import Constant
from training.sentence_vectors import MaxPooling
from training.translation import SHARED, ByLanguage, TranslationSystem
from training.translation_text import prepare_translation_text
from training.workspace import Workspace

STAGE = "train"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters(PivotParameters):
    """What may be changed with `--set`."""

    layers: Size = 6  # table 4.1, as the widths
    width: Size = 1024  # of a sentence vector; half of it each way
    decoder_width: Size = 2048
    embedding: Size = 512  # not named in the thesis; that of the code published with it
    dropout: Part = 0.1  # Artetxe & Schwenk 2019, section 3.2, as the rate
    rate: Rate = 1e-3  # Adam's, all along

    def __post_init__(self) -> None:
        check_pivots(self.languages, self.pivots)
        if self.width % 2:
            raise ValueError("width is even: half of it each way")

    @property
    def name(self) -> str:
        """The system's name in the thesis."""
        return f"{'c' if self.beta else ''}laser-{self.layers}"


SCALES = at_scales(
    smoke=Parameters(
        languages=("en", "de", "fr", "es"),
        **TEMPLATES,
        pieces=260,
        layers=1,
        width=32,
        decoder_width=48,
        embedding=24,
        dropout=0.0,
        rate=2e-2,
        batch_tokens=400,
        longest=60,
        steps=80,
        develop_every=40,
        log_every=10,
        max_tokens=64,
    ),
    small=Parameters(
        pieces=8000,
        layers=1,
        width=512,
        decoder_width=512,
        embedding=256,
        batch_tokens=3000,
        longest=60,
        steps=5000,
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
    tokens = RecurrentEncoder(
        token_vectors(pieces, p.embedding),
        blstm_layers(p.embedding, p.width // 2, p.layers),
        dropout=p.dropout,
    )
    decoder = LaserDecoder(
        pieces,
        embedding=p.embedding,
        hidden=p.decoder_width,
        vector=p.width,
        languages=p.pivots,
        dropout=p.dropout,
    )
    return TranslationSystem(
        ByLanguage({SHARED: SentenceEncoder(tokens, MaxPooling())}),
        ByLanguage({SHARED: decoder}),
        pivot_terms(p),
    )


def build(p: Parameters, work: Workspace) -> Phase[TranslationBatch]:
    """Put system, batches and schedule together."""
    text = prepare_translation_text(p, work, pieces=p.pieces)
    system = build_system(p, text.shared.size).to(work.device)
    return pivot_phase(
        p,
        text,
        system,
        optimiser=torch.optim.Adam(system.parameters(), lr=p.rate, fused=True),
        schedule=Constant(),
    )


def model(p: Parameters, work: Workspace) -> Model:
    """Return what is exported."""
    text = prepare_translation_text(p, work, pieces=p.pieces)
    encoder = work.fill(build_system(p, text.shared.size), STAGE).encoder(SHARED)
    graph = recurrent_graph(encoder, dimension=p.width)
    return pivot_model(
        p,
        text,
        text.shared.tower(graph, encoder.rectangle),
        name=p.name,
        family="lstm",
        dimension=p.width,
        pooling="max",
    )


RECIPE = Recipe(
    name="li-laser",
    summary="LASER_1, LASER_6, cLASER: shared BiLSTM, max; LSTM told all at every step; pivots",
    scales=SCALES,
    minutes=150,
    stages=(Stage(name=STAGE, build=build),),
    model=model,
    systems={
        f"{name}_{layers}": (f"layers={layers}", *settings)
        for name, settings in (("LASER", ("beta=0",)), ("cLASER", ()))
        for layers in (1, 6)
    },
    network=lambda p: build_system(p, p.pieces),
)
