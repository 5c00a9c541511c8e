"""A small translation system and batches for it, made in the test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from training.data.batches import Sentences
from training.data.translation import TranslationBatch
from training.decoders.lstm import LstmDecoder
from training.encoders.recurrent import RecurrentEncoder, blstm_layers, lstm_layers, token_vectors
from training.encoders.states import SentenceEncoder
from training.objectives.translation import TranslationLoss
from training.sentence_vectors import MaxPooling
from training.translation import ByLanguage, Terms, TranslationSystem

VOCABULARY = 15
TERMS = Terms(translation=TranslationLoss("token"))


def make_encoder() -> SentenceEncoder:
    tokens = RecurrentEncoder(token_vectors(VOCABULARY, 5), blstm_layers(5, 3, 1))
    return SentenceEncoder(tokens, MaxPooling())


def make_decoder(languages: Sequence[str]) -> LstmDecoder:
    return LstmDecoder(
        token_vectors(VOCABULARY, 5),
        lstm_layers(5 + 6, 4, 1),
        languages=languages,
        vector=6,
        every_step=True,
    )


def make_system(
    sources: Sequence[str], targets: Sequence[str], terms: Terms = TERMS
) -> TranslationSystem:
    """Return a system with an encoder and a decoder a language."""
    torch.manual_seed(0)
    return TranslationSystem(
        ByLanguage({language: make_encoder() for language in sources}),
        ByLanguage({language: make_decoder((language,)) for language in targets}),
        terms,
    )


def make_batch(
    sources: Sequence[str], targets: Sequence[str], *, size: int = 4
) -> TranslationBatch:
    """Return a batch of random sentences of unequal lengths."""
    generator = torch.Generator().manual_seed(3)
    sides: Mapping[str, Sentences] = {
        language: _sentences(size, generator) for language in dict.fromkeys((*sources, *targets))
    }
    return TranslationBatch(
        {language: sides[language] for language in sources},
        {language: sides[language] for language in targets},
    )


def _sentences(size: int, generator: torch.Generator) -> Sentences:
    lengths = torch.randint(1, 7, (size,), generator=generator)
    ids = torch.randint(1, VOCABULARY, (int(lengths.sum()),), generator=generator)
    return Sentences(ids, lengths)
