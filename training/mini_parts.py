"""What an `interlingua-mini` is made of, and how it is had back from a bundle to go on from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from service.bundle.manifest import DataSource
from service.bundle.reader import read_bundle
from service.commands.model_choice import chosen_model
from service.errors import BundleError, InputError
from training.encoders.bert import BertBody
from training.encoders.beside import Beside
from training.encoders.mapped import Mapped
from training.encoders.product_vectors import ProductVectors
from training.encoders.settled import SettledLayers
from training.graphs.reread import reread
from training.served_vocabulary import ServedVocabulary
from training.workspace import Workspace, copy


@dataclass(frozen=True, slots=True)
class MiniParts:
    """What an `interlingua-mini` is made of.

    Attributes:
        vocabulary: That the layers read.
        layers: As they are stored.
        map: float32 [D, D], what their vectors are multiplied by.
        second: The vocabulary of the static vectors beside them.
        table: float32 [V, D], these.
        data: What it was trained on before this run.
    """

    vocabulary: ServedVocabulary
    layers: SettledLayers
    map: npt.NDArray[np.float32]
    second: ServedVocabulary
    table: Tensor
    data: tuple[DataSource, ...] = ()


def parts_of_bundle(
    work: Workspace, place: str, body: BertBody, *, read_parts: int, places: int
) -> MiniParts:
    """Return what the bundle at `place` holds; the run keeps a copy of it.

    Args:
        work: Keeps it.
        place: The bundle's directory, or the name of a shipped or imported model.
        body: Untrained layers of its sizes, to be filled.
        read_parts: Of what they read of a token.
        places: Tokens that they have places for.

    Raises:
        InputError: There is no bundle, or one of another kind or other sizes.
    """

    def find() -> Path:
        try:
            bundle = read_bundle(chosen_model(Path(place)))
        except BundleError as error:
            raise _refused(place, str(error)) from error
        entry = bundle.manifest.encoders.get("*")
        if entry is None or entry.tokenizer.beside is None:
            raise _refused(place, "it has no second vocabulary beside its layers")
        return bundle.directory

    directory = work.keep("start", find, save=copy, load=lambda path: path)
    bundle = read_bundle(directory)
    entry = bundle.manifest.encoders["*"]
    first, beside = (directory / name for name in entry.tokenizer.files)
    vocabulary = ServedVocabulary.of_pieces(first.read_bytes())
    second = ServedVocabulary.of_pieces(beside.read_bytes())
    width = bundle.manifest.dimension
    body.places = nn.Parameter(torch.zeros(places, width))
    layers = SettledLayers(ProductVectors.empty(vocabulary.size, width, read_parts), body)
    mapped = Mapped(layers, np.zeros((width, width), dtype=np.float32))
    served = Beside(mapped, torch.zeros(second.size, width), weight=1.0)
    try:
        reread(served, (directory / entry.graph).read_bytes())
    except ValueError as error:
        raise _refused(place, str(error)) from error
    map_ = np.ascontiguousarray(mapped.map.weight.detach().numpy().T)
    table = served.table.detach()[1:].clone()  # id 0 is none
    return MiniParts(vocabulary, layers, map_, second, table, tuple(bundle.manifest.data))


def _refused(place: str, why: str) -> InputError:
    return InputError(
        f"This is no bundle of the recipe mini to go on from: {why.rstrip('.')}.",
        field="start",
        given=place,
        remedy="Name one that `interlingua train mini` made, or the shipped interlingua-mini.",
    )
