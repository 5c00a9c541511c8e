"""Bring a model of other tools in: its graph made where it has none, made small where asked."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from service.bundle.manifest import Manifest
from service.bundle.reader import Bundle
from service.bundle.writer import Content, file_entries, write_bundle
from service.errors import BundleError
from service.huggingface.bundle import assemble, checked_manifest, huggingface_bundle
from service.huggingface.layout import Layout, is_huggingface, read_layout
from service.inference.encoder import Encoder
from service.inference.vectors import normalise

Precision = Literal["fp32", "int8"]

_PROBES = 64
"""How many texts of the demo corpus the loss of smaller weights is measured on."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Cosines between the vectors of full and of smaller weights, of the same texts.

    Attributes:
        texts: How many.
        mean: Of the cosines.
        least: The worst of them.
    """

    texts: int
    mean: float
    least: float


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import made.

    Attributes:
        bundle: Written and verified.
        loss: What smaller weights cost; None where they were kept.
    """

    bundle: Bundle
    loss: Loss | None


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the one who imports says of a model, where its files do not.

    Attributes:
        name: Of the bundle; from the directory if None.
        graph: The ONNX file to take, relative to the directory; the usual one if None.
        precision: Of the stored weights; int8 halves the size or more.
        space: Of its vectors, where they share that of another model; one of its own if None.
        languages: That it was trained for; the card's if empty.
        dimensions: That its vectors may be cut to (Matryoshka); the config's if empty.
        prompts: Name -> text put before an input; they add to the directory's.
    """

    name: str | None = None
    graph: str | None = None
    precision: Precision = "fp32"
    space: str | None = None
    languages: Sequence[str] = ()
    dimensions: Sequence[int] = ()
    prompts: dict[str, str] | None = None


def import_model(source: Path, to: Path, wishes: Wishes | None = None) -> Imported:
    """Write the model in `source` as a bundle into the directory `to`.

    Args:
        source: A directory of sentence-transformers or transformers.
        to: Where the bundle shall be; a bundle that is there is replaced.
        wishes: What its files do not say.

    Raises:
        BundleError: It cannot be served.
            Or its graph must be made or made smaller, and `onnx` is not installed.
    """
    wishes = wishes or Wishes()
    if not is_huggingface(source):
        raise BundleError(
            f"{source} was written by neither sentence-transformers nor transformers: it has no "
            "modules.json and no config.json.",
            remedy="A bundle needs no import: serve --model DIR.",
        )
    layout = read_layout(source, graph=wishes.graph, more_prompts=bool(wishes.prompts))
    with tempfile.TemporaryDirectory(prefix="interlingua-import-") as scratch:
        full = _as_bundle(layout, wishes, Path(scratch))
        encoder = Encoder(full)  # refuses what cannot be served, before anything is written
        encoder.encode(["One text.", ""])
        if wishes.precision == "fp32":
            return Imported(write_bundle(to, full.manifest, full.elsewhere), None)
        return _smaller(full, encoder, to)


def _as_bundle(layout: Layout, wishes: Wishes, scratch: Path) -> Bundle:
    if layout.graph is not None:
        bundle = huggingface_bundle(layout, name=wishes.name)
    else:
        weights = layout.transformer / "model.safetensors"
        if not weights.is_file():
            raise BundleError(
                f"{layout.directory} has neither ONNX weights nor model.safetensors.",
                remedy="Export it with Hugging Face's optimum: optimum-cli export onnx --model DIR "
                "OUT; then import OUT.",
            )
        _require_onnx()
        from service.huggingface.bert_graph import bert_graph

        graph = scratch / "encoder.onnx"
        graph.write_bytes(bert_graph(weights, layout.model))
        bundle = assemble(layout, {"encoder.onnx": graph}, name=wishes.name, pooled=False)
    changes: dict[str, object] = {
        "space": wishes.space,
        "languages": tuple(wishes.languages),
        "matryoshka_dimensions": tuple(sorted(wishes.dimensions, reverse=True)),
        "prompts": bundle.manifest.prompts | (wishes.prompts or {}),
    }
    return Bundle(bundle.directory, _changed(bundle.manifest, changes), bundle.elsewhere)


def _require_onnx() -> None:
    if importlib.util.find_spec("onnx") is None:
        raise BundleError(
            "Making a graph, or making it smaller, needs the package onnx.",
            remedy="pip install 'interlingua[import]'",
        )


def _changed(manifest: Manifest, changes: dict[str, object]) -> Manifest:
    """Return `manifest` with those of `changes` that say something, checked again."""
    said = {name: value for name, value in changes.items() if value}
    return checked_manifest(**(manifest.model_dump() | said))


def _smaller(full: Bundle, encoder: Encoder, to: Path) -> Imported:
    _require_onnx()
    from service.huggingface.weights8 import store_in_8_bits

    files = {**full.elsewhere}
    small = store_in_8_bits(files["encoder.onnx"])
    # Weights beside the graph went into it.
    needed = {n for e in full.manifest.encoders.values() for n in e.needed_files}
    written: dict[str, Content] = {n: p for n, p in files.items() if n in needed}
    written["encoder.onnx"] = small
    manifest = _changed(full.manifest, {"precision": "int8", "files": file_entries(written)})
    bundle = write_bundle(to, manifest, written)
    return Imported(bundle, _loss(encoder, Encoder(bundle)))


def _loss(full: Encoder, small: Encoder) -> Loss:
    texts = _probes()
    first, second = (normalise(e.encode(texts, normalize=False)) for e in (full, small))
    cosines = (first * second).sum(axis=1)
    return Loss(len(texts), float(cosines.mean()), float(cosines.min()))


def _probes() -> list[str]:
    """Return texts of several languages and lengths, the same at every import."""
    import orjson

    from service.shipped import DEMO_CORPUS

    rows = [orjson.loads(line)["text"] for line in DEMO_CORPUS.read_bytes().splitlines()]
    chosen = np.linspace(0, len(rows) - 1, min(_PROBES, len(rows))).astype(int)
    return [rows[n] for n in chosen] + [" ".join(rows[n : n + 6]) for n in chosen[:: _PROBES // 4]]
