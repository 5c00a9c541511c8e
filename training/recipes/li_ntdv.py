"""Li 2021, chapter 3: NV and cNV, from two frozen translation models and three shared layers.

Stages: the two attention-GRU models are trained on their own, then the shared layers between their
encoders and decoders, along both directions at once (section 3.2.1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

import torch

from training import paths
from training.data.translation import TranslationBatch
from training.data.translation_batches import BatchLimits
from training.decoders.attention_gru import AttentionGruDecoder
from training.encoders.ntdv import SumOfHeads
from training.export import Model
from training.graphs.ntdv import ntdv_graph
from training.loop import Phase, require_watched
from training.objectives.distance_constraint import NtdvDistance
from training.objectives.translation import TranslationLoss
from training.parameters import TEMPLATES, Rate, Size, TranslationParameters, europarl
from training.preparation import provenance
from training.recipe import Recipe, Stage, at_scales
from training.schedules import Constant
from training.sentence_vectors import MeanPooling
from training.shared_layers import attention_gru, join_by_shared_layers
from training.translation import Terms, TranslationSystem
from training.translation_text import (
    TranslationText,
    Watch,
    prepare_translation_text,
    translation_options,
)
from training.workspace import Workspace

FORWARD, BACKWARD, SHARED_LAYERS = "translate-forward", "translate-backward", "shared-layers"
SOURCES = ("tatoeba", "tatoeba_anki", "bible_nt", "gnome_help", "tldr", "mlqe_pe", "ntrex")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters(TranslationParameters):
    """What may be changed with `--set`."""

    languages: tuple[str, ...] = ("en", "de")  # two, each with its own encoder and decoder
    vector: Literal["sum", "con"] = "con"  # of the heads' contexts (eq. 3.3, 3.4)
    beta: float = 0.5  # of the constraint (3.3): 0 is NV, above it cNV
    sources: tuple[str, ...] = SOURCES
    pieces: Size = 85_000  # section 3.3; BPE of both languages, as Nematus has them
    embedding: Size = 500
    width: Size = 1024  # hidden layer; d_h of the shared layers
    heads: Size = 4  # r
    draws: Size = 20  # N_s
    batch: Size = 80  # sentences
    longest: Size = 50  # tokens
    rate: Rate = 1e-4  # Adam's; neither rate nor clipping is named: these are Nematus's
    clip: Rate = 1.0
    steps: Size  # of each translation model
    shared_steps: Size  # of the shared layers: five epochs (3.3)
    develop_every: int = 1000

    def __post_init__(self) -> None:
        if len(set(self.languages)) != 2:
            raise ValueError("NTDV joins two languages")
        if not 0 <= self.beta <= 1:
            raise ValueError("beta lies between 0 and 1 (eq. 3.8)")

    @property
    def dimension(self) -> int:
        """Width of a sentence vector."""
        return self.width * (self.heads if self.vector == "con" else 1)

    @property
    def margin(self) -> float:
        """The constraint's alpha = 2 sqrt(d_h) (3.3)."""
        return 2 * math.sqrt(self.width)


SCALES = at_scales(
    smoke=Parameters(
        **TEMPLATES,
        pieces=160,
        embedding=16,
        width=24,
        draws=5,
        batch=32,
        rate=1e-2,
        steps=40,
        shared_steps=40,
        develop_every=20,
        log_every=10,
        max_tokens=64,
    ),
    small=Parameters(
        pieces=8000, embedding=256, width=256, rate=1e-3, steps=6000, shared_steps=4000
    ),
    # Europarl v7 en-de: 1.9 million pairs, so five epochs are 120,000 batches.
    paper=Parameters(
        **europarl(1_900_000),
        steps=300_000,
        shared_steps=120_000,
        develop_every=20_000,
    ),
)


def translators(p: Parameters, pieces: int) -> dict[tuple[str, str], TranslationSystem]:
    """Return the forward and the backward model by source and target, in this order."""
    first, second = p.languages
    return {
        (source, target): attention_gru(
            source, target, pieces=pieces, embedding=p.embedding, width=p.width
        )
        for source, target in ((first, second), (second, first))
    }


def build_system(
    p: Parameters, models: Mapping[tuple[str, str], TranslationSystem]
) -> TranslationSystem:
    """Return the models of `translators` with the shared layers between."""
    # Eq. 3.8; a sentence's tokens are added up, as its distances are.
    terms = Terms(
        translation=TranslationLoss("sum"),
        translation_weight=1 - p.beta,
        closeness={"distance": (NtdvDistance(margin=p.margin, draws=p.draws), p.beta)},
    )
    return join_by_shared_layers(models, terms, width=p.width, heads=p.heads)


def build_forward(p: Parameters, work: Workspace) -> Phase[TranslationBatch]:
    """Put together the training of the model from the first language to the second."""
    return _build_translator(p, work, *p.languages)


def build_backward(p: Parameters, work: Workspace) -> Phase[TranslationBatch]:
    """Put together the training of the model from the second language to the first."""
    return _build_translator(p, work, *reversed(p.languages))


def build_shared(p: Parameters, work: Workspace) -> Phase[TranslationBatch]:
    """Put together the training of the shared layers upon the two models."""
    text = prepare_translation_text(p, work, pieces=p.pieces)
    models = translators(p, text.shared.size)
    for model, stage in zip(models.values(), (FORWARD, BACKWARD), strict=True):
        model.load_state_dict(work.trained(stage))
    path = paths.TrainingPath(p.languages, p.languages)
    return _phase(p, text, build_system(p, models), path, steps=p.shared_steps)


def _build_translator(
    p: Parameters, work: Workspace, source: str, target: str
) -> Phase[TranslationBatch]:
    text = prepare_translation_text(p, work, pieces=p.pieces)
    system = attention_gru(
        source, target, pieces=text.shared.size, embedding=p.embedding, width=p.width
    )
    path = paths.TrainingPath((source,), (target,))
    # Departure: Nematus begins with a bias of 0. Small models then often stay at the frequencies of
    # tokens; a checkpoint that is gone on from brings its own bias.
    decoder = cast(AttentionGruDecoder, system.decoders.of(target))
    decoder.begin_with(text.log_frequencies(path, target, longest=p.longest))
    if p.develop_every:  # the shared layers, trained last, are chosen by what both read
        joint = paths.even([paths.TrainingPath(p.languages, p.languages)])
        development = text.development(system, joint, longest=p.longest)
        require_watched("search_error", development.measured)
    return _phase(p, text, system, path, steps=p.steps)


def _phase(
    p: Parameters,
    text: TranslationText,
    system: TranslationSystem,
    path: paths.TrainingPath,
    *,
    steps: int,
) -> Phase[TranslationBatch]:
    trained = [
        weight for weight in system.to(text.work.device).parameters() if weight.requires_grad
    ]
    watch: Watch = "perplexity" if len(path.sources) == 1 else "search_error"
    return text.phase(
        system,
        paths.even([path]),
        limits=BatchLimits(tokens=1_000_000, sentences=p.batch, longest=p.longest),
        optimiser=torch.optim.Adam(trained, lr=p.rate, fused=True),
        schedule=Constant(),
        options=translation_options(p, steps=steps, watch=watch, clip=p.clip),
        seed=p.seed,
    )


def model(p: Parameters, work: Workspace) -> Model:
    """Return what is exported: one encoder a language."""
    text = prepare_translation_text(p, work, pieces=p.pieces)
    system = work.fill(build_system(p, translators(p, text.shared.size)), SHARED_LAYERS)
    towers = {}
    for language in p.languages:
        encoder = system.encoder(language)
        if p.vector == "sum":
            encoder.sentence_vector = SumOfHeads(MeanPooling(), p.heads)
        graph = ntdv_graph(encoder, dimension=p.dimension)
        towers[language] = text.shared.tower(graph, encoder.rectangle)
    name = f"{'cnv' if p.beta else 'nv'}-{p.vector}"
    return Model(
        towers=towers,
        name=name,
        family="ntdv",
        description=(
            "Layers shared by two frozen translation models, one encoder a language "
            "(Li 2021, chapter 3)."
        ),
        space=f"li-{name}",
        dimension=p.dimension,
        languages=p.languages,
        max_tokens=p.max_tokens,
        pooling="mean",
        limits=("The language of a text must be known: each has its own encoder.",),
        research=p.research,
        data=provenance(text.corpus),
    )


_EXPORTED = ("vector",)
_UPON_THEM = (*_EXPORTED, "beta", "heads", "draws", "shared_steps")
"""What the translation models do not read."""

RECIPE = Recipe(
    name="li-ntdv",
    summary="NV and cNV: shared layers between two frozen attention-GRU models, 4 context heads",
    scales=SCALES,
    minutes=120,
    stages=(
        Stage(name=FORWARD, build=build_forward, unread=_UPON_THEM),
        Stage(name=BACKWARD, build=build_backward, unread=_UPON_THEM),
        Stage(name=SHARED_LAYERS, build=build_shared, unread=_EXPORTED),
    ),
    model=model,
    exported=_EXPORTED,
    systems={
        f"{name}, {vector}": (f"vector={vector}", *settings)
        for name, settings in (("NV", ("beta=0",)), ("cNV", ()))
        for vector in ("sum", "con")
    },
    network=lambda p: build_system(p, translators(p, p.pieces)),
)
