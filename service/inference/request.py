"""A request for vectors: how to embed, its texts as tokens, and the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.bundle.manifest import Manifest
from service.errors import InputError
from service.inference.encoder import Encoder, Tower
from service.inference.session import Vectors
from service.text.tokenizer import Side, Tokens


@dataclass(frozen=True, slots=True)
class EmbedOptions:
    """How to embed; the defaults are the bundle's own.

    Attributes:
        language: Of all texts, or None to detect it where the model needs it.
        truncate: Whether texts longer than the model's limit are cut; else they are refused.
        cut: The end that is cut off.
        dimensions: Keep only the first so many.
        normalize: Scale to length 1; None for the bundle's default.
        prompt: Put before each text; one of the bundle's `prompts` by name.
        client: Who asks; the queue is fair between clients.
    """

    language: str | None = None
    truncate: bool = True
    cut: Side = "right"
    dimensions: int | None = None
    normalize: bool | None = None
    prompt: str | None = None
    client: str = ""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of a request, and what it took.

    Attributes:
        vectors: float32 [texts, dimensions], in the order of the texts.
        tokens: Tokens of each text that were encoded.
        truncated: Positions of texts that were cut.
        languages: Of each text: given, detected, or None where the model needs none.
        tokenize_seconds: Time spent on tokens, waiting for a tokenizer thread included.
        queue_seconds: Longest wait of any part of the request for a session.
        inference_seconds: Computation, summed over the request's parts.
    """

    vectors: Vectors
    tokens: list[int]
    truncated: list[int]
    languages: list[str | None]
    tokenize_seconds: float
    queue_seconds: float
    inference_seconds: float


@dataclass(frozen=True, slots=True)
class Group:
    """The texts of a request that one tower encodes: their places in it, and their tokens."""

    tower: Tower
    positions: list[int]
    tokens: list[Tokens]


@dataclass(frozen=True, slots=True)
class Prepared:
    """The texts of a request as tokens.

    Attributes:
        groups: By the tower that encodes them.
        lengths: Tokens of each text.
        truncated: Positions of texts that were cut, ascending.
        languages: Of each text: given, detected, or None where the model needs none.
    """

    groups: list[Group]
    lengths: list[int]
    truncated: list[int]
    languages: list[str | None]


def prepare(encoder: Encoder, texts: Sequence[str], options: EmbedOptions) -> Prepared:
    """Return `texts` as tokens, each for its tower.

    Raises:
        InputError: A prompt or language that the model does not have, or a text that is too long
            and must not be cut.
    """
    prefix = encoder.prompt_prefix(options.prompt)
    languages: list[str | None] = []
    by_tower: dict[int, tuple[Tower, list[int]]] = {}
    for position, text in enumerate(texts):
        tower, language = encoder.tower_for(text, options.language)
        languages.append(language)
        by_tower.setdefault(id(tower), (tower, []))[1].append(position)
    lengths = [0] * len(texts)
    truncated: list[int] = []
    groups: list[Group] = []
    limit = encoder.manifest.max_tokens
    for tower, positions in by_tower.values():
        tokenized = tower.tokenizer.encode(
            [prefix + texts[p] for p in positions], max_tokens=limit, cut=options.cut
        )
        cut = [positions[i] for i in tokenized.truncated]
        if cut and not options.truncate:
            first = tokenized.truncated[0]
            least = "at least " if first in tokenized.partly_read else ""
            raise InputError(
                f"Text {cut[0]} has {least}{tokenized.full_lengths[first]} tokens; "
                f"{encoder.name} takes at most {limit}.",
                field=f"inputs[{cut[0]}]",
                given=texts[cut[0]],
                remedy='Shorten it, or send "truncate": true.',
            )
        truncated += cut
        for position, tokens in zip(positions, tokenized.tokens, strict=True):
            lengths[position] = len(tokens)
        groups.append(Group(tower, positions, tokenized.tokens))
    return Prepared(groups, lengths, sorted(truncated), languages)


def check_dimensions(manifest: Manifest, dimensions: int | None) -> int:
    """Return `dimensions`, all where None, or raise InputError where the model has not so many."""
    if dimensions is not None and not 1 <= dimensions <= manifest.dimension:
        raise InputError(
            f"{manifest.name} has {manifest.dimension} dimensions.",
            field="dimensions",
            given=dimensions,
            remedy=f"Ask for 1 to {manifest.dimension}, or leave the field out.",
        )
    return dimensions or manifest.dimension
