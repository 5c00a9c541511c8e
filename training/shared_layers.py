"""NTDV's systems: an attention-GRU translation model, and two of them with layers they share.

Li 2021, section 3.2.1; the layers themselves are in `training.encoders.ntdv`.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import nn

from training.decoders.attention_gru import AttentionGruDecoder
from training.encoders.ntdv import ContextHeads, NtdvStates, ThroughShared, freeze
from training.encoders.recurrent import RecurrentEncoder, token_vectors
from training.encoders.states import SentenceEncoder
from training.objectives.translation import TranslationLoss
from training.sentence_vectors import MeanPooling
from training.translation import ByLanguage, Terms, TranslationSystem


def attention_gru(
    source: str, target: str, *, pieces: int, embedding: int, width: int
) -> TranslationSystem:
    """Return a translation model as Nematus has it.

    Args:
        source: The language that is read.
        target: The one that is written.
        pieces: Of the vocabulary.
        embedding: Width of a token's vector.
        width: Of the GRUs; the encoder's states are twice as wide.
    """
    layer = nn.GRU(embedding, width, batch_first=True, bidirectional=True)
    encoder = RecurrentEncoder(token_vectors(pieces, embedding), [layer])
    decoder = AttentionGruDecoder(pieces, embedding=embedding, hidden=width, states=2 * width)
    return TranslationSystem(
        ByLanguage({source: SentenceEncoder(encoder, MeanPooling())}),
        ByLanguage({target: decoder}),
        Terms(translation=TranslationLoss("token")),
    )


def join_by_shared_layers(
    models: Mapping[tuple[str, str], TranslationSystem], terms: Terms, *, width: int, heads: int
) -> TranslationSystem:
    """Return the models, frozen, with the three shared layers between encoders and decoders.

    Args:
        models: (source, target) -> the model that translates so.
        terms: What the shared layers make small.
        width: d_h of the shared layers; the width of the models' GRUs.
        heads: r.
    """
    gru = nn.GRU(2 * width, width, batch_first=True)
    context = ContextHeads(width, heads)
    shared = nn.Linear(heads * width, 2 * width)
    encoders = {
        source: SentenceEncoder(
            NtdvStates(freeze(model.encoder(source).tokens), gru, context), MeanPooling()
        )
        for (source, _), model in models.items()
    }
    decoders = {
        target: ThroughShared(shared, freeze(model.decoders.of(target)))
        for (_, target), model in models.items()
    }
    return TranslationSystem(ByLanguage(encoders), ByLanguage(decoders), terms)
