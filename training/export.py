"""A trained system to a bundle that the service serves, with a check that both compute the same."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from service.bundle.manifest import (
    DataSource,
    EncoderEntry,
    Manifest,
    Measurement,
    Recipe,
    TokenizerEntry,
)
from service.bundle.reader import Bundle, read_bundle
from service.bundle.writer import file_entries, write_bundle
from service.errors import BundleError
from service.inference.onnx_session import EncoderSession

PARITY = 1e-4
"""Largest difference of any number of a vector between torch and the exported graph."""

Reference = Callable[[Tensor, Tensor], Tensor]
"""ids int64 [B, S], mask bool [B, S] -> float32 [B, D]: what the graph must compute, in torch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tower:
    """One encoder, ready to be written.

    Attributes:
        graph: The ONNX file.
        reference: The same in torch, with the weights as they are stored.
        tokenizer: The tokenizer's file.
        tokenizer_kind: Of which kind that is.
        vocabulary: How many ids there are.
        ngrams: How many ids there are besides, 0 for none included, where ids are rows of a word
            and its n-grams.
    """

    graph: bytes
    reference: Reference
    tokenizer: bytes
    tokenizer_kind: Literal["sentencepiece", "huggingface", "vocabulary"]
    vocabulary: int
    ngrams: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What a recipe gives to be exported.

    Attributes:
        towers: Language, or `*` for all, -> encoder. Languages may name the same tower.
        name: Of the bundle.
        family: The kind of system: static, transformer, lstm ...
        description: A sentence or two for the card.
        space: The vector space; students of one teacher share its.
        dimension: Width of a vector.
        cuts: Widths to which vectors may be cut.
        languages: That it was trained for.
        max_tokens: Longest input.
        pooling: How token vectors become one.
        data: What it was trained on.
        precision: Of the stored weights.
        limits: What it cannot do, for the card.
        research: Whether any of its text is for research use only, so that it must not ship.
    """

    towers: Mapping[str, Tower]
    name: str
    family: str
    description: str
    space: str
    dimension: int
    cuts: tuple[int, ...] = ()
    languages: tuple[str, ...]
    max_tokens: int
    pooling: str
    data: tuple[DataSource, ...]
    precision: str = "fp32"
    limits: tuple[str, ...] = ()
    research: bool = False


_RESEARCH_LIMIT = "Trained on research-only text: not to be shipped."

_ENDINGS = {"sentencepiece": "model", "huggingface": "json", "vocabulary": "json"}


def export(model: Model, directory: Path, recipe: Recipe) -> Bundle:
    """Check `model` and write it into `directory`, replacing what was there.

    Raises:
        BundleError: A graph does not compute what torch does, or its shapes are fixed.
    """
    files: dict[str, bytes] = {}
    entries: dict[str, EncoderEntry] = {}
    written: dict[int, EncoderEntry] = {}
    for language, tower in model.towers.items():
        if id(tower) not in written:
            check_parity(tower, model.dimension)
            part = "" if language == "*" else f"-{language}"
            entry = EncoderEntry(
                graph=f"encoder{part}.onnx",
                tokenizer=TokenizerEntry(
                    kind=tower.tokenizer_kind,
                    file=f"tokenizer{part}.{_ENDINGS[tower.tokenizer_kind]}",
                ),
            )
            files[entry.graph] = tower.graph
            files[entry.tokenizer.file] = tower.tokenizer
            written[id(tower)] = entry
        entries[language] = written[id(tower)]
    manifest = Manifest(
        name=model.name,
        family=model.family,
        description=model.description,
        space=model.space,
        dimension=model.dimension,
        matryoshka_dimensions=model.cuts,
        languages=model.languages,
        max_tokens=model.max_tokens,
        pooling=model.pooling,
        encoders=entries,
        precision=model.precision,
        files=file_entries(files),
        recipe=recipe,
        data=model.data,
        limits=(*model.limits, _RESEARCH_LIMIT) if model.research else model.limits,
        licence="Research use only" if model.research else "Apache-2.0",
    )
    return write_bundle(directory, manifest, files)


def check_parity(tower: Tower, dimension: int, *, seed: int = 0) -> float:
    """Return the largest difference between the graph and torch.

    Compared on padded batches of unequal lengths, on one sentence, on one token, and on a sentence
    without tokens beside others; ONNX Runtime's session refuses graphs whose shapes are fixed.

    Raises:
        BundleError: They differ by `PARITY` or more, or a shape is fixed.
    """
    random = np.random.default_rng(seed)
    largest = 0.0
    with tempfile.TemporaryDirectory() as directory:
        graph = Path(directory) / "encoder.onnx"
        graph.write_bytes(tower.graph)
        session = EncoderSession(graph, dimension=dimension)
        for lengths in ([3, 17, 1, 8, 30], [9], [1], [1, 1], [0, 5], [64, 2, 33]):
            mask = np.arange(max(lengths)) < np.array(lengths)[:, None]
            ids = _draw_ids(random, tower, mask)
            with torch.inference_mode():
                expected = tower.reference(torch.from_numpy(ids), torch.from_numpy(mask))
            given = session.run({"ids": ids, "mask": mask.astype(np.int64)})
            difference = float(np.abs(given - expected.float().cpu().numpy()).max())
            if not difference < PARITY:
                raise BundleError(
                    f"The graph differs from torch by {difference:.1e} on sentences of {lengths} "
                    f"tokens; {PARITY:.0e} is allowed."
                )
            largest = max(largest, difference)
    return largest


def _draw_ids(
    random: np.random.Generator, tower: Tower, mask: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Return ids int64 [B, S], 0 at pads; [B, S, F] where a token has n-grams, 0 for some."""
    ids = random.integers(0, tower.vocabulary, mask.shape) * mask
    if not tower.ngrams:
        return ids
    features = int(random.integers(1, 20))
    grams = random.integers(0, tower.ngrams, (*mask.shape, features)) * mask[:, :, None]
    grams *= np.arange(features) < random.integers(0, features + 1, (*mask.shape, 1))
    return np.concatenate([ids[:, :, None], grams], axis=2)


def record_quality(bundle: Bundle, measured: tuple[Measurement, ...]) -> Bundle:
    """Write `measured` into manifest and card, in place of earlier figures of the same data."""
    replaced = {(row.protocol, row.dataset) for row in measured}
    kept = tuple(
        row for row in bundle.manifest.quality if (row.protocol, row.dataset) not in replaced
    )
    manifest = bundle.manifest.model_copy(update={"quality": kept + measured})
    files = {name: (bundle.directory / name).read_bytes() for name in manifest.files}
    return write_bundle(bundle.directory, manifest, files)


def open_bundle(directory: Path) -> Bundle:
    """Return the bundle in `directory`, or in the run that `directory` is."""
    inside = directory / "bundle"
    return read_bundle(inside if inside.is_dir() else directory)
