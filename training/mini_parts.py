"""What an `interlingua-mini` is made of, and how it is had back from a bundle to go on from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from service.bundle.manifest import DataSource
from service.bundle.reader import read_bundle
from service.commands.model_choice import chosen_model
from service.errors import BundleError, InputError
from training.encoders.settled import SettledLayers
from training.graphs.reread import reread
from training.served_vocabulary import ServedVocabulary
from training.workspace import Workspace, copy


@dataclass(frozen=True, slots=True)
class MiniParts:
    """What an `interlingua-mini` is made of.

    Attributes:
        vocabulary: That the layers read.
        layers: And the map behind them.
        data: What it was trained on before this run.
    """

    vocabulary: ServedVocabulary
    layers: SettledLayers
    data: tuple[DataSource, ...] = ()


def parts_of_bundle(work: Workspace, place: str) -> MiniParts:
    """Return what the bundle at `place` holds; the run keeps a copy of it.

    Args:
        work: Keeps it.
        place: The bundle's directory, or the name of a shipped or imported model.

    Raises:
        InputError: There is no bundle, or one of another kind or other sizes.
    """

    def find() -> Path:
        try:
            bundle = read_bundle(chosen_model(Path(place)))
        except BundleError as error:
            raise _refused(place, str(error)) from error
        entry = bundle.manifest.encoders.get("*")
        if entry is None or entry.tokenizer.kind != "sentencepiece":
            raise _refused(place, "it has no pieces that all languages share")
        return bundle.directory

    directory = work.keep("start", find, save=copy, load=lambda path: path)
    bundle = read_bundle(directory)
    entry = bundle.manifest.encoders["*"]
    vocabulary = ServedVocabulary.of_pieces((directory / entry.tokenizer.file).read_bytes())
    try:
        layers = reread((directory / entry.graph).read_bytes())
    except ValueError as error:
        raise _refused(place, str(error)) from error
    return MiniParts(vocabulary, layers, tuple(bundle.manifest.data))


def _refused(place: str, why: str) -> InputError:
    return InputError(
        f"This is no bundle of the recipe mini to go on from: {why.rstrip('.')}.",
        field="start",
        given=place,
        remedy="Name one that `interlingua train mini` made, or the shipped interlingua-mini.",
    )
