"""A head: labels and weights that turn vectors of one space into probabilities.

A head is a bundle of two files: `head.json` and `head.safetensors`, which holds float32 `weights`
[labels, width] and `bias` [labels], and can hold no code. One that was fitted here has a third,
`examples.safetensors`: labelled examples to explain its answers with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from service.bundle.reader import read_manifest, verify_files
from service.bundle.writer import CARD_FILE, file_entries, write_directory
from service.classification.calibration import probabilities
from service.classification.card import render_head_card
from service.classification.logistic import Linear
from service.classification.manifest import FittedOn, HeadManifest
from service.errors import BundleError, ConflictError, InputError
from service.inference.session import Vectors
from service.inference.vectors import normalise

__all__ = ["FittedOn", "Head", "HeadManifest", "read_head", "write_head"]

HEAD_FILE = "head.json"
WEIGHTS_FILE = "head.safetensors"
EXAMPLES_FILE = "examples.safetensors"

Array: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """A head, loaded.

    Attributes:
        manifest: What it is.
        weights: float32 [labels, width].
        bias: float32 [labels].
        directory: Where it was read from; None where it is nowhere.
    """

    manifest: HeadManifest
    weights: Array
    bias: Array
    directory: Path | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.manifest.name

    @property
    def labels(self) -> tuple[str, ...]:
        """Its labels, in the order of `predict`'s columns."""
        return self.manifest.labels

    def require_space(self, space: str, *, model: str) -> None:
        """Raise ConflictError unless vectors of `space`, made by `model`, fit this head."""
        if space != self.manifest.space:
            raise ConflictError(
                f"Classifier {self.name!r} was fitted in the space {self.manifest.space!r}, on "
                f"vectors of {self.manifest.encoder.name}; {model} makes vectors of {space!r}.",
                field="model",
                given=model,
                remedy=f"Use {self.manifest.encoder.name} or another model of its space, or fit "
                f"the classifier on {model}.",
            )

    def predict(self, vectors: Vectors, seconds: Vectors | None = None) -> Array:
        """Return probabilities, float32 [batch, labels].

        `softmax((W x + b) / temperature)`, each row summing to 1; where labels don't exclude each
        other, the sigmoid of each. `x` is the vector scaled to length 1, as it was when fitted.

        Args:
            vectors: float32 [batch, dimension], of any length.
            seconds: Of the second text of each pair, for heads of pairs.

        Raises:
            InputError: Vectors of another width, or pairs where texts are due, or the reverse.
        """
        for given in (vectors, seconds):
            if given is not None and given.shape[1:] != (self.manifest.dimension,):
                raise InputError(
                    f"Classifier {self.name!r} takes vectors of {self.manifest.dimension} numbers.",
                    field="vectors",
                    given=given.shape,
                )
        if (seconds is not None) != self.takes_pairs:
            raise InputError(
                f"Classifier {self.name!r} takes {'pairs' if self.takes_pairs else 'one text each'}"
                ".",
                field="inputs",
            )
        features = normalise(vectors) if seconds is None else pair_features(vectors, seconds)
        return probabilities(
            Linear(self.weights, self.bias).logits(features),
            temperature=self.manifest.temperature,
            multi_label=self.manifest.multi_label,
        )

    @property
    def takes_pairs(self) -> bool:
        """Whether it classifies pairs of texts."""
        return self.manifest.features == "pair"


def pair_features(first: Vectors, second: Vectors) -> Array:
    """Return (u, v, |u - v|, u * v) of unit vectors, float32 [batch, 4 dimension].

    Chidambaram et al. 2018, section 2.4. Departure: the product is scaled by the square root of the
    dimension, since the numbers of unit vectors are so small that regularisation would silence it.
    """
    u, v = normalise(first), normalise(second)
    scale = np.float32(u.shape[1] ** 0.5)
    return np.concatenate([u, v, np.abs(u - v), u * v * scale], axis=1)


def write_head(
    directory: Path,
    manifest: HeadManifest,
    *,
    weights: Array,
    bias: Array,
    examples: bytes | None = None,
) -> Head:
    """Write a head bundle and its card into `directory`, replacing what was there.

    Args:
        directory: Where the bundle shall be.
        manifest: What `head.json` shall say; its `files` are filled in here.
        weights: float32 [labels, width].
        bias: float32 [labels].
        examples: The content of `examples.safetensors`, if there shall be one.

    Returns:
        The head as it was read back.

    Raises:
        BundleError: The weights do not fit the manifest, or what is there is no head; nothing is
            written.
    """
    tensors = {
        "weights": np.ascontiguousarray(weights, dtype=np.float32),
        "bias": np.ascontiguousarray(bias, dtype=np.float32),
    }
    _check_tensors(directory / WEIGHTS_FILE, manifest, tensors)
    files = {WEIGHTS_FILE: save(tensors)}
    if examples is not None:
        files[EXAMPLES_FILE] = examples
    manifest = manifest.model_copy(update={"files": file_entries(files)})
    write_directory(
        directory,
        {
            **files,
            HEAD_FILE: (manifest.model_dump_json(indent=2) + "\n").encode(),
            CARD_FILE: render_head_card(manifest).encode(),
        },
        known_by=HEAD_FILE,
    )
    return read_head(directory)


def read_head(directory: Path) -> Head:
    """Read the head bundle in `directory`.

    Raises:
        BundleError: No manifest, one that breaks the schema, a file that is not the one that was
            written, or tensors of other names, types or shapes than the manifest promises.
    """
    manifest = read_manifest(directory / HEAD_FILE, HeadManifest)
    path = directory / WEIGHTS_FILE
    if set(manifest.files) - {EXAMPLES_FILE} != {WEIGHTS_FILE}:
        raise BundleError(
            f"{directory / HEAD_FILE} names other files than {WEIGHTS_FILE} and {EXAMPLES_FILE}.",
            field="files",
            given=sorted(manifest.files),
        )
    verify_files(directory, manifest.files)
    try:
        tensors = load(path.read_bytes())
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise BundleError(f"{path} is no safetensors file: {error}.") from error
    _check_tensors(path, manifest, tensors)
    return Head(manifest, tensors["weights"], tensors["bias"], directory)


def _check_tensors(path: Path, manifest: HeadManifest, tensors: Mapping[str, Array]) -> None:
    labels = len(manifest.labels)
    shapes = {"weights": (labels, manifest.width), "bias": (labels,)}
    if set(tensors) != set(shapes):
        raise BundleError(f"{path} holds {sorted(tensors)}; weights and bias are due.")
    for name, shape in shapes.items():
        tensor = tensors[name]
        if tensor.dtype != np.float32 or tensor.shape != shape:
            raise BundleError(
                f"{path}: {name} is {tensor.dtype} {tensor.shape}; float32 {shape} is due."
            )
        if not np.isfinite(tensor).all():
            raise BundleError(f"{path}: {name} holds numbers that are not finite.")
