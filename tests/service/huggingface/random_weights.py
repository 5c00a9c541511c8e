"""Weights of a small XLM-R, the same wherever they are made."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

HIDDEN, LAYERS, HEADS, WIDE, WORDS, PLACES = 16, 2, 2, 32, 50, 20

CONFIG: dict[str, object] = {
    "model_type": "xlm-roberta",
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": WIDE,
    "vocab_size": WORDS,
    "max_position_embeddings": PLACES,
    "type_vocab_size": 1,
    "pad_token_id": 1,
    "layer_norm_eps": 1e-5,
    "hidden_act": "gelu",
}

IDS = np.array([[0, 7, 8, 9, 2], [0, 11, 2, 1, 1], [0, 2, 1, 1, 1]])
MASK = (IDS != 1).astype(np.int64)


def xlmr_weights() -> dict[str, npt.NDArray[np.float32]]:
    """Return them by the names of transformers' XLMRobertaModel."""
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (WORDS, HIDDEN),
        "embeddings.position_embeddings.weight": (PLACES, HIDDEN),
        "embeddings.token_type_embeddings.weight": (1, HIDDEN),
    }
    _norm(shapes, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            _linear(shapes, f"{prefix}.attention.{name}", HIDDEN, HIDDEN)
        _linear(shapes, f"{prefix}.intermediate.dense", WIDE, HIDDEN)
        _linear(shapes, f"{prefix}.output.dense", HIDDEN, WIDE)
        _norm(shapes, f"{prefix}.attention.output.LayerNorm")
        _norm(shapes, f"{prefix}.output.LayerNorm")
    random = np.random.default_rng(11)
    return {n: (random.standard_normal(s) / 2).astype(np.float32) for n, s in shapes.items()}


def _linear(shapes: dict[str, tuple[int, ...]], name: str, out: int, into: int) -> None:
    shapes |= {f"{name}.weight": (out, into), f"{name}.bias": (out,)}


def _norm(shapes: dict[str, tuple[int, ...]], name: str) -> None:
    shapes |= {f"{name}.weight": (HIDDEN,), f"{name}.bias": (HIDDEN,)}
