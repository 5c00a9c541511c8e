"""Hermann & Blunsom 2013: BiCVM, word vectors of two languages that add up to the same sentence.

A vocabulary and a table of vectors a language, sentences as sums (eq. 3), the noise-contrastive
hinge (eq. 7), AdaGrad. BiCVM+ is the same with a second pair of languages that shares the English
side ("1 million English sentences, each paired up with either a German or a French sentence",
section 4.1), so that German and French meet through English alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from training.contrastive import ContrastiveEncoders
from training.data.corpus import Corpus
from training.data.noise import NoiseBatch, NoiseBatches
from training.development import HeldOutSearchByLanguage
from training.encoders.additive import AdditiveEncoder
from training.encoders.static import random_table
from training.export import Model
from training.graphs.additive import additive_graph
from training.language_vocabularies import (
    prepare_language_tokens,
    prepare_language_vocabularies,
    require_text,
)
from training.loop import LoopOptions, Phase
from training.objectives.noise_contrastive import NoiseContrastive
from training.optimisers import RowAdagrad
from training.parameters import TEMPLATES, Rate, Size, TextParameters, Weight, europarl
from training.preparation import corpus_plan, prepare_corpus, provenance
from training.recipe import Recipe, Stage, at_scales
from training.schedules import Constant
from training.served_vocabulary import ServedVocabulary
from training.word_vocabulary import WordPlan
from training.workspace import Workspace

STAGE = "train"
SOURCES = ("tatoeba", "tatoeba_anki", "ntrex", "bible_nt", "tico19", "python_docs", "gnome_help")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters(TextParameters):
    """What may be changed with `--set`."""

    languages: tuple[str, ...] = ("en", "de")  # the first is the pivot; BiCVM+ has fr as well
    sources: tuple[str, ...] = SOURCES
    least: Size = 1  # times a word must occur; the paper keeps all
    dimension: Size = 40  # section 4.1
    deviation: Rate = 0.1  # of the Gaussian that vectors start from; the paper does not say
    margin: Weight = 50.0  # section 4.1
    noise: Size = 50  # section 4.1
    noise_pool: Size | None = 1000  # sentences a batch that noise is picked from; None: the paper's
    l2: Weight = 1.0  # lambda, section 4.1
    rate: Rate = 0.1  # step size, section 4.1
    batch: Size = 250  # pairs; the paper does not say
    iterations: Size = 50  # through all pairs, section 4.1
    longest: Size = 200  # words of a training sentence
    max_tokens: Size = 4096  # words of a text that is served
    log_every: int = 200
    develop_every: int = 5000
    checkpoint_seconds: float = 120.0

    def __post_init__(self) -> None:
        if len(self.languages) < 2:
            raise ValueError("languages are two or more, the pivot first")
        if self.noise < 1 or (self.noise_pool is not None and self.noise_pool < self.noise):
            raise ValueError("noise is at least 1, and noise_pool none or at least noise")


SMOKE = Parameters(
    **TEMPLATES,
    noise=10,  # the paper's is 50
    noise_pool=None,
    batch=32,
    iterations=8,  # the paper's is 50
    log_every=10,
    develop_every=32,
)

SCALES = at_scales(
    smoke=SMOKE,
    # Departure: noise comes from a pool of 1,000 sentences a batch; words that occur once share
    # one vector; 20 iterations, since these corpora converge in fewer.
    small=Parameters(least=2, iterations=20),
    # "500k sentence pairs of the English-German parallel section" (4.1), and of the English-French
    # one for BiCVM+: parallel/europarl/europarl-v7.de-en.{de,en}; which of them is not said.
    paper=Parameters(**europarl(500_000), noise_pool=None),
)


def build(p: Parameters, work: Workspace) -> Phase[NoiseBatch]:
    """Put the parts together."""
    corpus = _corpus(p, work)
    tokenizers = {name: words.tokenizer for name, words in _words(p, work, corpus).items()}
    encoders = {
        language: AdditiveEncoder(
            random_table(
                tokenizer.vocabulary_size, p.dimension, seed=p.seed + place, scale=p.deviation
            )
        )
        for place, (language, tokenizer) in enumerate(tokenizers.items())
    }
    system = ContrastiveEncoders(encoders, NoiseContrastive(margin=p.margin)).to(work.device)
    batches = NoiseBatches(
        corpus,
        prepare_language_tokens(work, corpus, tokenizers, longest=p.longest),
        size=p.batch,
        noise=p.noise,
        pool=p.noise_pool,
        seed=p.seed,
        pivot=p.languages[0],
    )
    return Phase(
        system=system,
        batches=batches,
        # J is a sum over all pairs with the L2 term once; a step's loss is the mean over pairs.
        optimisers=(RowAdagrad(system.parameters(), lr=p.rate, l2=p.l2 / batches.pairs),),
        schedule=Constant(),
        develop=HeldOutSearchByLanguage(encoders, tokenizers, corpus.held_out, work.device),
        options=LoopOptions(
            steps=p.iterations * batches.batches,
            log_every=p.log_every,
            develop_every=p.develop_every,
            checkpoint_seconds=p.checkpoint_seconds,
        ),
    )


def model(p: Parameters, work: Workspace) -> Model:
    """Return what is exported: a graph and a vocabulary a language."""
    corpus = _corpus(p, work)
    weights = work.trained(STAGE)
    towers = {}
    for language, words in _words(p, work, corpus).items():
        table = weights[f"encoders.{language}.table"].cpu()
        towers[language] = words.tower(
            additive_graph(table.numpy()), AdditiveEncoder(table).rectangle
        )
    plus = "+" if len(towers) > 2 else ""
    return Model(
        towers=towers,
        name="bicvm-plus" if plus else "bicvm",
        family="additive",
        description=(
            f"BiCVM{plus} (Hermann & Blunsom 2013): a sentence's vector is the sum of its words' "
            "vectors, trained so that translations are closer than sentences drawn at random."
        ),
        space="-".join(("bicvm", *towers)),
        dimension=p.dimension,
        languages=tuple(towers),
        max_tokens=p.max_tokens,
        pooling="sum",
        limits=(
            "The order of words is not seen.",
            "A word that was not trained has the vector of all unknown words.",
        ),
        research=p.research,
        data=provenance(corpus),
    )


def _corpus(p: Parameters, work: Workspace) -> Corpus:
    plan = corpus_plan(p, evaluation=("tatoeba",), pivot=p.languages[0])
    corpus = prepare_corpus(work, plan, research=p.research)
    require_text(corpus, p.languages)
    return corpus


def _words(p: Parameters, work: Workspace, corpus: Corpus) -> dict[str, ServedVocabulary]:
    # "Each language's vocabulary used distinct encodings to avoid potential overlap" (4.1).
    return prepare_language_vocabularies(work, corpus, WordPlan(least=p.least, lower=True))


RECIPE = Recipe(
    name="bicvm",
    summary="Hermann & Blunsom 2013: word vectors a language, sum; hinge with noise",
    scales=SCALES,
    minutes=5,
    stages=(Stage(name=STAGE, build=build),),
    model=model,
    systems={"BiCVM": (), "BiCVM+": ("languages=en,de,fr",)},
)
