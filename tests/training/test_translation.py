"""The translation system: which parts a path uses, and what its losses are."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.training.translation_parts import (
    TERMS,
    make_batch,
    make_decoder,
    make_encoder,
    make_system,
)
from training.data.parallel_rows import ParallelRows
from training.data.tokens import TokenTable
from training.data.translation import TranslationBatch
from training.data.translation_batches import BatchLimits, TranslationBatches
from training.decoders.targets import Predictions
from training.encoders.states import Encoded
from training.loop import LoopOptions, Phase
from training.objectives.similarity import squared_distance
from training.objectives.translation import TranslationLoss
from training.objectives.weight_regularisation import recurrent_weight_norm
from training.paths import TrainingPath, even, one_to_many
from training.schedules import LinearDecay
from training.translation import SHARED, ByLanguage, Terms, TranslationSystem


class Listener(nn.Module):
    """A decoder that remembers what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: dict[str, Tensor] = {}

    def forward(self, encoded: Encoded, target: object, language: str) -> Predictions:
        del target
        self.given[language] = encoded.vectors
        nothing = torch.zeros(0, dtype=torch.int64)
        return Predictions(torch.zeros(0, 2), nothing, nothing, 0)


def listen(
    sources: tuple[str, ...], targets: tuple[str, ...]
) -> tuple[Listener, dict[str, Tensor]]:
    """Return what the decoder was given and the vectors of all sources."""
    listener, batch = Listener(), make_batch(sources, targets)
    torch.manual_seed(0)
    encoders = ByLanguage({language: make_encoder() for language in sources})
    system = TranslationSystem(encoders, ByLanguage({SHARED: listener}), TERMS)
    system(batch)
    return listener, {name: system.encoder(name)(side) for name, side in batch.sources.items()}


def changed(system: TranslationSystem) -> tuple[set[str], set[str]]:
    """Return the languages of the encoders and decoders that have a gradient."""
    found = []
    for side in (system.encoders, system.decoders):
        found.append(
            {
                name
                for name, part in side.parts.items()
                if any(p.grad is not None and p.grad.any() for p in part.parameters())
            }
        )
    return found[0], found[1]


def test_three_to_one_averages() -> None:
    listener, vectors = listen(("en", "fr", "es"), ("ar",))
    mean = (vectors["en"] + vectors["fr"] + vectors["es"]) / 3
    torch.testing.assert_close(listener.given["ar"], mean)


def test_both_ways_each_is_decoded_from_the_other() -> None:
    listener, vectors = listen(("en", "de"), ("en", "de"))
    torch.testing.assert_close(listener.given["en"], vectors["de"])
    torch.testing.assert_close(listener.given["de"], vectors["en"])


def test_alone_a_language_is_decoded_from_itself() -> None:
    listener, vectors = listen(("en",), ("en",))
    torch.testing.assert_close(listener.given["en"], vectors["en"])


@pytest.mark.parametrize(
    ("sources", "targets"),
    [
        (("en",), ("fr",)),
        (("en", "fr"), ("es",)),
        (("fr",), ("en", "es", "ar")),
        (("en", "fr"), ("es", "ar")),
    ],
)
def test_a_step_updates_the_parts_of_its_path(
    sources: tuple[str, ...], targets: tuple[str, ...]
) -> None:
    languages = ("en", "fr", "es", "ar")
    system = make_system(languages, languages)
    losses = system(make_batch(sources, targets))
    torch.stack(list(losses.values())).sum().backward()  # type: ignore[no-untyped-call]
    assert changed(system) == (set(sources), set(targets))


def test_losses_of_several_targets_are_summed() -> None:
    system = make_system(("en",), ("fr", "es"))
    whole = system(make_batch(("en",), ("fr", "es")))["translation"]
    batch = make_batch(("en",), ("fr", "es"))
    parts = [
        system(type(batch)(batch.sources, {name: batch.targets[name]}))["translation"]
        for name in ("fr", "es")
    ]
    torch.testing.assert_close(whole, parts[0] + parts[1])


def test_terms_are_weighted_and_those_of_weight_0_left_out() -> None:
    terms = Terms(
        translation=TranslationLoss("sentence"),
        closeness={"similarity": (squared_distance, 2.5), "other": (squared_distance, 0.0)},
        weights={"norm": (recurrent_weight_norm, 0.1), "none": (recurrent_weight_norm, 0.0)},
    )
    encoder, decoder = make_encoder(), make_decoder(("en", "de"))
    system = TranslationSystem(ByLanguage({SHARED: encoder}), ByLanguage({SHARED: decoder}), terms)
    batch = make_batch(("en", "de"), ("en", "de"))
    losses = system(batch)
    assert list(losses) == ["translation", "similarity", "norm"]
    difference = encoder(batch.sources["en"]) - encoder(batch.sources["de"])
    torch.testing.assert_close(losses["similarity"], 2.5 * difference.square().sum(1).mean())
    torch.testing.assert_close(losses["norm"], 0.1 * recurrent_weight_norm(encoder))


def make_phase() -> Phase[TranslationBatch]:
    """Return 12 steps along 1:2 paths with a similarity loss between two of the sources."""
    rows = ParallelRows(("en", "fr", "es"), np.arange(87).reshape(29, 3))
    lengths = np.random.default_rng(0).integers(1, 8, 87)
    ids = np.random.default_rng(1).integers(1, 15, lengths.sum()).astype(np.int32)
    tokens = TokenTable(ids, np.concatenate([[0], np.cumsum(lengths)]))
    mixture = even([*one_to_many(rows.languages), TrainingPath(("en", "fr"), ("en", "fr"))])
    terms = Terms(
        translation=TranslationLoss("token"), closeness={"similarity": (squared_distance, 0.5)}
    )
    system = make_system(rows.languages, rows.languages, terms)
    limits = BatchLimits(tokens=1000, sentences=7)
    return Phase(
        system=system,
        batches=TranslationBatches(rows, tokens, mixture, limits=limits, seed=0),
        optimisers=(torch.optim.Adam(system.parameters(), lr=0.02),),
        schedule=LinearDecay(12),
        options=LoopOptions(steps=12, log_every=1, clip=2.0),
    )
