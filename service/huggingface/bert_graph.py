"""An ONNX graph of BERT (Devlin et al. 2019) from a safetensors file, without torch.

Most sentence encoders that people have are BERT, RoBERTa or XLM-R with a pooling on top, and many
come as weights alone. Their layers are the same but for how places are counted:

    states = LayerNorm(word + place + segment)
    each layer: x = LayerNorm(x + Attention(x));  x = LayerNorm(x + W2 gelu(W1 x))
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
from onnx import TensorProto
from safetensors import SafetensorError
from safetensors.numpy import load_file

from service.bundle.graph_builder import GraphBuilder
from service.errors import BundleError
from service.huggingface.configs import ModelConfig

Floats = npt.NDArray[np.float32]

FIRST_PLACE = {"bert": 0, "roberta": 2, "xlm-roberta": 2}
"""Model type -> the row of the place table for the first token; RoBERTa's rows begin after the
pad's number, which is 1."""

_PREFIXES = ("", "bert.", "roberta.", "model.")
_LARGEST_BYTES = 2_000_000_000
"""A protobuf message holds no more."""


def bert_graph(weights: Path, config: ModelConfig) -> bytes:
    """Return the graph: `ids`, `mask` int64 [B, T] -> token vectors float32 [B, T, D].

    Args:
        weights: A safetensors file of the encoder, with or without heads of other tasks.
        config: Its `config.json`.

    Raises:
        BundleError: It is another architecture, or a weight is missing.
    """
    if config.model_type not in FIRST_PLACE or config.position_embedding_type not in (
        None,
        "absolute",
    ):
        raise BundleError(
            f"Only {', '.join(FIRST_PLACE)} are made into a graph here, with absolute places; this "
            f"is {config.model_type or 'of unknown type'}.",
            field="model_type",
            given=config.model_type,
            remedy="Export it with Hugging Face's optimum: optimum-cli export onnx --model DIR "
            "OUT; then import OUT.",
        )
    if config.hidden_act not in ("gelu",):
        raise BundleError(
            "Only the exact gelu is made into a graph here.",
            field="hidden_act",
            given=config.hidden_act,
            remedy="Export it with Hugging Face's optimum; then import that.",
        )
    if weights.stat().st_size > _LARGEST_BYTES:
        raise BundleError(
            f"{weights} has more than 2 GB, which one ONNX file cannot hold.",
            remedy="Export it with Hugging Face's optimum, which puts weights beside the graph.",
        )
    return _Bert(_read(weights), config).graph()


def _read(path: Path) -> dict[str, Floats]:
    try:
        arrays = load_file(path)
    except (OSError, SafetensorError, TypeError) as error:
        raise BundleError(f"{path} cannot be read: {error}.") from error
    key = "embeddings.word_embeddings.weight"
    prefix = next((p for p in _PREFIXES if p + key in arrays), None)
    if prefix is None:
        raise BundleError(f"{path} has no {key}: it holds no BERT.")
    return {
        name.removeprefix(prefix): array.astype(np.float32)
        for name, array in arrays.items()
        if name.startswith(prefix) and array.dtype.kind == "f"
    }


class _Bert:
    def __init__(self, weights: Mapping[str, Floats], config: ModelConfig) -> None:
        self._weights = weights
        self._config = config
        self._heads = config.num_attention_heads
        self._g = GraphBuilder()

    def graph(self) -> bytes:
        g, config = self._g, self._config
        x = self._embed()
        # 0 where there is a token, and so much less where there is none that softmax gives 0.
        absent = g.node("Sub", g.constant(1.0), g.cast("mask", TensorProto.FLOAT))
        bias = g.node("Mul", absent, g.constant(-1e9))
        bias = g.node("Unsqueeze", bias, g.constant([1, 2]))  # [B, 1, 1, T]
        for layer in range(config.num_hidden_layers):
            prefix = f"encoder.layer.{layer}"
            attended = self._linear(
                self._attend(x, bias, prefix), f"{prefix}.attention.output.dense"
            )
            x = self._norm(g.node("Add", x, attended), f"{prefix}.attention.output.LayerNorm")
            wide = self._gelu(self._linear(x, f"{prefix}.intermediate.dense"))
            narrow = self._linear(wide, f"{prefix}.output.dense")
            x = self._norm(g.node("Add", x, narrow), f"{prefix}.output.LayerNorm")
        return g.finish(x, config.hidden_size, of_tokens=True)

    def _embed(self) -> str:
        g = self._g
        first = FIRST_PLACE[self._config.model_type]
        # One segment only, so its vector is the same for every token and goes with the place's.
        places = self._weight("embeddings.position_embeddings.weight")[first:]
        places = places + self._weight("embeddings.token_type_embeddings.weight")[0]
        words = g.constant(self._weight("embeddings.word_embeddings.weight"))
        length = g.node("Gather", g.node("Shape", "ids"), g.constant([1]))
        here = g.node("Slice", g.constant(places), g.constant([0]), length, g.constant([0]))
        return self._norm(
            g.node("Add", g.node("Gather", words, "ids"), here), "embeddings.LayerNorm"
        )

    def _attend(self, x: str, bias: str, prefix: str) -> str:
        g, width = self._g, self._config.hidden_size
        names = [f"{prefix}.attention.self.{part}" for part in ("query", "key", "value")]
        weight = np.concatenate([self._weight(f"{name}.weight").T for name in names], axis=1)
        offset = np.concatenate([self._weight(f"{name}.bias") for name in names])
        joined = g.node("Add", g.node("MatMul", x, g.constant(weight)), g.constant(offset))
        split = g.node("Reshape", joined, g.constant([0, 0, 3, self._heads, width // self._heads]))
        turned = g.node("Transpose", split, attributes={"perm": [2, 0, 3, 1, 4]})  # [3, B, H, T, d]
        query, key, value = (
            g.node("Squeeze", g.node("Gather", turned, g.constant(n)), g.constant([0]))
            for n in range(3)
        )
        scale = g.constant(1.0 / math.sqrt(width / self._heads))
        key = g.node("Transpose", key, attributes={"perm": [0, 1, 3, 2]})
        scores = g.node("MatMul", g.node("Mul", query, scale), key)
        shares = g.node("Softmax", g.node("Add", scores, bias), attributes={"axis": -1})
        mixed = g.node(
            "Transpose", g.node("MatMul", shares, value), attributes={"perm": [0, 2, 1, 3]}
        )
        return g.node("Reshape", mixed, g.constant([0, 0, width]))

    def _gelu(self, x: str) -> str:
        g = self._g
        inner = g.node("Erf", g.node("Div", x, g.constant(math.sqrt(2.0))))
        share = g.node("Mul", g.node("Add", inner, g.constant(1.0)), g.constant(0.5))
        return g.node("Mul", x, share)

    def _linear(self, x: str, name: str) -> str:
        g = self._g
        product = g.node("MatMul", x, g.constant(self._weight(f"{name}.weight").T))
        return g.node("Add", product, g.constant(self._weight(f"{name}.bias")))

    def _norm(self, x: str, name: str) -> str:
        g = self._g
        # Files of the first years say gamma and beta.
        scale = self._weight(f"{name}.weight", f"{name}.gamma")
        shift = self._weight(f"{name}.bias", f"{name}.beta")
        return g.node(
            "LayerNormalization",
            x,
            g.constant(scale),
            g.constant(shift),
            attributes={"axis": -1, "epsilon": self._config.layer_norm_eps},
        )

    def _weight(self, *names: str) -> Floats:
        for name in names:
            if name in self._weights:
                return self._weights[name]
        raise BundleError(f"The weights lack {names[0]}.", remedy="Copy the directory whole.")
