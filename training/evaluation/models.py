"""What is measured: a bundle, a Hugging Face directory, or a server that is running."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol

from service.classification.head import HEAD_FILE
from service.commands.model_choice import chosen_model
from service.errors import InputError
from service.inference.encoder import Encoder
from service.inference.session import Vectors
from training.evaluation.remote import RemoteModel, is_url


class SentenceModel(Protocol):
    """Texts in, vectors out, as `service.inference.encoder.Encoder` has it."""

    @property
    def name(self) -> str:
        """Of the model."""
        ...

    @property
    def dimension(self) -> int:
        """D, the width of a vector."""
        ...

    @property
    def languages(self) -> tuple[str, ...]:
        """Those that it was trained for."""
        ...

    @property
    def needs_language(self) -> bool:
        """Whether a text's language decides what encodes it."""
        ...

    def encode(
        self,
        texts: Sequence[str],
        *,
        language: str | None = None,
        normalize: bool | None = None,
    ) -> Vectors:
        """Return float32 [texts, D] in the order of `texts`.

        Args:
            texts: Sentences or documents.
            language: Of all of them.
            normalize: Scale to length 1; as the model has it where None.
        """
        ...


def open_model(place: str | Path) -> SentenceModel:
    """Return the model at `place`.

    Args:
        place: A bundle's directory, a run that has one, a directory that sentence-transformers or
            transformers wrote with ONNX weights, the name of a shipped or imported model, or the
            URL of a server.

    Raises:
        InputError: There is no such directory, or no server answers there.
        BundleError: The bundle cannot be served.
    """
    if is_url(str(place)):
        return RemoteModel(str(place))
    directory = chosen_model(Path(place))
    if not directory.is_dir():
        raise InputError(
            "There is no such directory.",
            field="--model",
            given=str(place),
            remedy="Name a bundle, a run, a Hugging Face directory with ONNX weights, a model that "
            "`interlingua models list` shows, or a URL that begins with http.",
        )
    if (directory / HEAD_FILE).exists():
        raise InputError(
            "This is a classifier, and what is measured are encoders.",
            field="--model",
            given=str(place),
            remedy="Name an encoder's bundle; a classifier is measured when it is fitted.",
        )
    inside = directory / "bundle"
    return Encoder(inside if inside.is_dir() else directory)


def open_partner(place: str, model: SentenceModel) -> SentenceModel:
    """Return the model whose vectors are searched, those of `model` being the queries.

    Args:
        place: As for `open_model`; `model` itself where it is empty.
        model: What is measured.

    Raises:
        InputError: There is no such model, or its vectors are no match for those of `model`.
    """
    if not place:
        return model
    partner = open_model(place)
    if partner.dimension != model.dimension:
        raise InputError(
            f"{partner.name} has {partner.dimension} dimensions where {model.name} has "
            f"{model.dimension}.",
            field="partner",
            given=place,
            remedy="Name a model of the same space.",
        )
    return partner


def vectors_of(model: SentenceModel, texts: Sequence[str], language: str, *, unit: bool) -> Vectors:
    """Return the vectors of `texts`, float32 [texts, D], as they are or scaled to length 1.

    Raises:
        InputError: The model has an encoder a language, and none for this one.
    """
    named = language if model.needs_language else None
    vectors: Vectors = model.encode(list(texts), language=named, normalize=unit)
    return vectors


def require_languages(
    model: SentenceModel, languages: Sequence[str], *, least: int = 1
) -> tuple[str, ...]:
    """Return the languages to measure: `languages`, or the model's where there are none.

    Raises:
        InputError: The model needs an encoder for one of them and has none, or they are too few.
    """
    wanted = tuple(languages or model.languages)
    missing = [name for name in wanted if name not in model.languages]
    if model.needs_language and missing:
        raise InputError(
            f"{model.name} has an encoder a language, and none for {', '.join(missing)}; it has "
            f"{', '.join(model.languages)}.",
            field="languages",
            given=",".join(wanted),
            remedy="Leave them out, or measure a model whose encoder all languages share.",
        )
    if len(wanted) < least:
        raise InputError(
            f"This needs {least} languages or more.", field="languages", given=",".join(wanted)
        )
    return wanted


def require_files(named: Sequence[str], found: Collection[str], *, folder: Path, form: str) -> None:
    """Refuse languages that were asked for by name and have no file; others are just left out.

    Args:
        named: What was asked for.
        found: Languages that there is a file of.
        folder: Where files were looked for.
        form: Their names and columns.

    Raises:
        InputError: There are some.
    """
    missing = [name for name in named if name not in found]
    if missing:
        raise InputError(
            f"{folder} has no file of {', '.join(missing)}.",
            field="languages",
            given=",".join(named),
            remedy=f"Leave {'it' if len(missing) == 1 else 'them'} out, or add such files: {form}.",
        )
