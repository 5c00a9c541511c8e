"""Li 2021, chapter 4: LASER and T-MDE, and both under a distance constraint.

One encoder and one decoder for all languages; each language is translated into the pivots.

    laser-1, laser-6    BiLSTM of 1 or 6 layers, max-pooling; LSTM decoder      (section 2.1.4)
    t-mde, t-mde-f      transformer, first token; the decoder sees the vector alone, or all states
    t-mde-p             the same, with the pyramid of learned rows             (section 4.2.2)
    c...                with the distance constraint                           (section 4.2.3)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import torch
from torch import nn
from torch.optim import Optimizer

from service.text.tokenizer import SentencePieceTokenizer
from training import paths
from training.data.corpus import Corpus, CorpusPlan
from training.data.lines import OnBroken
from training.data.parallel_rows import joined_rows
from training.data.translation import TranslationBatch
from training.data.translation_batches import BatchLimits, TranslationBatches
from training.decoders.laser import LaserDecoder
from training.decoders.transformer import (
    TransformerDecoder,
    make_decoder_layer,
    sentence_memory,
    states_memory,
)
from training.encoders.pyramid import PyramidEncoder
from training.encoders.recurrent import RecurrentEncoder, blstm_layers, token_vectors
from training.encoders.states import SentenceEncoder
from training.encoders.transformer import (
    TokenEmbedding,
    TransformerEncoder,
    TransformerLayer,
    make_layer,
)
from training.export import Model, Tower
from training.graphs.recurrent import recurrent_graph
from training.graphs.traced import traced_graph
from training.language_vocabularies import tokenize_columns
from training.loop import LoopOptions, Phase
from training.objectives.distance_constraint import TmdeDistance
from training.objectives.translation import TranslationLoss
from training.preparation import prepare_corpus, prepare_tokens, prepare_vocabulary, provenance
from training.recipe import Recipe, Scale, Stage
from training.schedules import Constant, InverseSquareRoot, Schedule
from training.sentence_vectors import FirstState, MaxPooling
from training.translation import SHARED, ByLanguage, Terms, TranslationSystem
from training.translation_development import TranslationDevelopment
from training.vocabulary import VocabularyPlan
from training.workspace import Workspace

STAGE = "train"
DATA = (
    "tatoeba",
    "tatoeba_anki",
    "bible_nt",
    "tico19",
    "python_docs",
    "gnome_help",
    "tldr",
    "ntrex",
)
EVALUATION = ("tatoeba", "stsb", "sts_ja_ko", "sib200")

System = Literal[
    "laser-1",
    "laser-6",
    "claser-1",
    "claser-6",
    "t-mde",
    "t-mde-f",
    "t-mde-p",
    "ct-mde",
    "ct-mde-p",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What may be changed with `--set`."""

    system: System = "ct-mde-p"
    languages: tuple[str, ...] = ("en", "de", "fr", "es", "it")  # section 4.2
    pivots: tuple[str, ...] = ("en", "es")  # languages that are written
    sources: tuple[str, ...] = DATA
    broken: OnBroken = "refuse"
    research: bool = False
    held_out_source: str = "ntrex"
    held_out_first: int = 700
    pieces: int = 50_000  # BPE, all languages together (4.3.1)
    width: int = 1024  # of a sentence vector; each way half of it in LASER (table 4.1)
    layers: int = 6  # of a transformer; LASER has those of its name
    heads: int = 16
    inner: int = 4096
    rows: int = 32  # learned rows of the pyramid
    embedding: int = 512  # of LASER's tokens
    decoder_width: int = 2048  # of LASER's decoder
    dropout: float | None = None  # 0.3, and 0.1 in LASER
    rate: float | None = None  # Adam's: 5e-4 at its peak, and 1e-3 all along in LASER
    warm_up: int = 4000  # steps
    beta: float = 0.25  # of the constraint (4.3.1)
    margin: float = 0.5  # alpha
    marginal: float = 1.0  # lambda
    draws: int = 40  # N_s
    batch_tokens: int = 128_000  # of a side, pads included (4.3.1)
    longest: int = 100  # tokens
    steps: int
    precision: Literal["fp32", "bf16"] = "fp32"
    develop_every: int = 1000
    log_every: int = 50
    max_tokens: int = 512  # of a text that is served; 750 (4.5.2)
    seed: int = 0

    def __post_init__(self) -> None:
        if not set(self.pivots) <= set(self.languages) or len(self.languages) < 2:
            raise ValueError(f"pivots are among the languages, {', '.join(self.languages)}")
        if self.width % self.heads or self.width % 2:
            raise ValueError(f"width is even and a multiple of the {self.heads} heads")

    @property
    def constrained(self) -> bool:
        """Whether translations are drawn together."""
        return self.system.startswith("c")

    @property
    def recurrent(self) -> bool:
        """Whether it is a LASER."""
        return "laser" in self.system


_SMALL = Parameters(
    pieces=12_000,
    width=256,
    heads=4,
    inner=1024,
    embedding=256,
    decoder_width=512,
    dropout=0.1,
    rate=1e-3,
    warm_up=800,
    batch_tokens=6000,
    longest=60,
    steps=8000,
    max_tokens=256,
)

SCALES: Mapping[Scale, Parameters] = MappingProxyType(
    {
        "smoke": Parameters(
            languages=("en", "de", "fr", "es"),
            sources=("template_sentences",),
            held_out_source="template_sentences",
            held_out_first=224,
            pieces=260,
            width=32,
            layers=2,
            heads=4,
            inner=64,
            rows=8,
            embedding=24,
            decoder_width=48,
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
        "small": _SMALL,
        # Europarl v7: "Ten to twenty epochs were run" (4.3.1) of about 14 million pairs.
        "paper": Parameters(
            sources=("europarl",),
            held_out_source="europarl",
            held_out_first=1_900_000,
            precision="bf16",
            steps=60_000,
        ),
    }
)


def mixture_of(p: Parameters) -> paths.Mixture:
    """Return each language into each pivot, as often as the others (4.2).

    The constraint needs the vector of the target too, so there it is encoded as well; the rule that
    a target is decoded from the other sources keeps it out of its own translation.
    """
    chosen = paths.each_to_pivots(p.languages, p.pivots)
    if p.constrained:
        chosen = tuple(
            paths.TrainingPath((*path.sources, *path.targets), path.targets) for path in chosen
        )
    return paths.even(chosen)


def build_encoder(p: Parameters, pieces: int) -> SentenceEncoder:
    """Return the shared encoder."""
    dropout = _dropout(p)
    if p.recurrent:
        depth = int(p.system[-1])
        layers = blstm_layers(p.embedding, p.width // 2, depth)
        tokens = RecurrentEncoder(token_vectors(pieces, p.embedding), layers, dropout=dropout)
        return SentenceEncoder(tokens, MaxPooling())

    def layer() -> TransformerLayer:
        return make_layer(p.width, heads=p.heads, inner=p.inner, dropout=dropout, norm_first=True)

    transformer = TransformerEncoder(
        TokenEmbedding(pieces, p.width),
        [layer() for _ in range(p.layers)],
        width=p.width,
        dropout=dropout,
        first_token=True,
    )
    pyramid = p.system.endswith("-p")
    above = PyramidEncoder(transformer, layer(), rows=p.rows) if pyramid else transformer
    return SentenceEncoder(above, FirstState())


def build_decoder(p: Parameters, pieces: int) -> nn.Module:
    """Return the shared decoder."""
    dropout = _dropout(p)
    if p.recurrent:
        return LaserDecoder(
            pieces,
            embedding=p.embedding,
            hidden=p.decoder_width,
            vector=p.width,
            languages=p.pivots,
            dropout=dropout,
        )
    one = make_decoder_layer(p.width, heads=p.heads, inner=p.inner, dropout=dropout, vector=p.width)
    return TransformerDecoder(
        TokenEmbedding(pieces, p.width),
        [one],  # "six encoder layers and one decoder layer" (4.2)
        states_memory if p.system == "t-mde-f" else sentence_memory,
        languages=p.pivots,
        dropout=dropout,
    )


def build_system(p: Parameters, pieces: int) -> TranslationSystem:
    """Put the parts together; `pieces` is the size of the vocabulary."""
    smoothing = 0.0 if p.recurrent else 0.1
    if p.constrained:
        distance = TmdeDistance(margin=p.margin, weight=p.marginal, draws=p.draws)
        terms = Terms(
            # Eq. 4.21 adds up a sentence's own terms, so its tokens are added up too.
            translation=TranslationLoss("sum", smoothing),
            translation_weight=0.5,
            closeness={"distance": (distance, p.beta)},
        )
    else:
        terms = Terms(translation=TranslationLoss("token", smoothing))
    return TranslationSystem(
        ByLanguage({SHARED: build_encoder(p, pieces)}),
        ByLanguage({SHARED: build_decoder(p, pieces)}),
        terms,
    )


def build(p: Parameters, work: Workspace) -> Phase[TranslationBatch]:
    """Put system, batches and schedule together."""
    corpus = _corpus(p, work)
    vocabulary = _vocabulary(p, work, corpus)
    tokenizer = SentencePieceTokenizer(vocabulary)
    system = build_system(p, tokenizer.vocabulary_size).to(work.device)
    # One token more than may be, so that what is too long is known and left out rather than cut.
    tokens = prepare_tokens(work, corpus, vocabulary, longest=p.longest + 1)
    held_out, held_out_tokens = tokenize_columns(
        corpus.held_out, dict.fromkeys(corpus.held_out, tokenizer), longest=p.longest + 1
    )
    mixture = mixture_of(p)
    optimiser, schedule = _optimisation(p, system)
    return Phase(
        system=system,
        batches=TranslationBatches(
            joined_rows(corpus, "en"),
            tokens,
            mixture,
            limits=BatchLimits(tokens=2 * p.batch_tokens, longest=p.longest),
            seed=p.seed,
        ),
        optimisers=(optimiser,),
        schedule=schedule,
        develop=TranslationDevelopment(
            system, held_out, held_out_tokens, mixture, longest=p.longest, device=work.device
        ),
        options=LoopOptions(
            steps=p.steps,
            develop_every=p.develop_every,
            log_every=p.log_every,
            watch="search_error",
            better="lower",
            precision=p.precision,
        ),
    )


def model(p: Parameters, work: Workspace) -> Model:
    """Return what is exported."""
    corpus = _corpus(p, work)
    vocabulary = _vocabulary(p, work, corpus)
    pieces = SentencePieceTokenizer(vocabulary).vocabulary_size
    system = build_system(p, pieces).eval()
    system.load_state_dict(work.trained(STAGE))
    encoder = system.encoder(SHARED)
    tower = Tower(
        graph=(
            recurrent_graph(encoder, dimension=p.width) if p.recurrent else traced_graph(encoder)
        ),
        reference=encoder.rectangle,
        tokenizer=vocabulary,
        tokenizer_kind="sentencepiece",
        vocabulary=pieces,
    )
    return Model(
        towers={SHARED: tower},
        name=p.system,
        family="lstm" if p.recurrent else "transformer",
        description=(
            f"Learned by translating into {' and '.join(p.pivots)} (Li 2021, chapter 4)"
            + (", with a distance constraint between translations." if p.constrained else ".")
        ),
        space=f"li-{p.system}",
        dimension=p.width,
        languages=p.languages,
        max_tokens=p.max_tokens,
        pooling="max" if p.recurrent else "first",
        precision="fp32",
        limits=("Trained on research-only text: not to be shipped.",) if p.research else (),
        licence="Research use only" if p.research else "Apache-2.0",
        data=provenance(corpus),
    )


def _dropout(p: Parameters) -> float:
    return p.dropout if p.dropout is not None else (0.1 if p.recurrent else 0.3)


def _optimisation(p: Parameters, system: nn.Module) -> tuple[Optimizer, Schedule]:
    if p.recurrent:  # Artetxe & Schwenk 2019, section 3.2: a constant rate
        return torch.optim.Adam(system.parameters(), lr=p.rate or 1e-3), Constant()
    optimiser = torch.optim.AdamW(  # section 4.3.1, footnote; fairseq's decay is apart, as here
        system.parameters(), lr=p.rate or 5e-4, betas=(0.9, 0.98), weight_decay=1e-4
    )
    return optimiser, InverseSquareRoot(p.warm_up)


def _corpus(p: Parameters, work: Workspace) -> Corpus:
    plan = CorpusPlan(
        sources=p.sources,
        languages=p.languages,
        held_out_source=p.held_out_source,
        held_out_rows=(p.held_out_first, 10_000_000),
        evaluation=EVALUATION,
        broken=p.broken,
        seed=p.seed,
    )
    return prepare_corpus(work, plan, research=p.research)


def _vocabulary(p: Parameters, work: Workspace, corpus: Corpus) -> bytes:
    plan = VocabularyPlan(pieces=p.pieces, kind="bpe", seed=p.seed)
    return prepare_vocabulary(work, corpus, plan)


RECIPE = Recipe(
    name="li-tmde",
    summary="LASER and T-MDE: shared encoder and decoder, pivots; c...: distance constraint",
    scales=SCALES,
    minutes=150,
    stages=(Stage(name=STAGE, build=build),),
    model=model,
)
