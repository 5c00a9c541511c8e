from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from service.huggingface.bert_graph import bert_graph
from service.huggingface.configs import ModelConfig

WIDTH, HIDDEN, LAYERS, WORDS, PLACES = 64, 128, 2, 200, 96


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The graph of a BERT with random weights, two layers of 64 numbers."""
    return write_bert(tmp_path_factory.mktemp("bert"), places=PLACES)


def write_bert(directory: Path, *, places: int) -> Path:
    """Write that graph into `directory`, with so many places for tokens; return its path."""
    random = np.random.default_rng(5)

    def matrix(rows: int, columns: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return random.normal(0, 0.2, (rows, columns)).astype(np.float32)

    def vector(size: int, middle: float = 0.0) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return (middle + random.normal(0, 0.1, size)).astype(np.float32)

    weights = {
        "embeddings.word_embeddings.weight": matrix(WORDS, WIDTH) * 5,
        "embeddings.position_embeddings.weight": matrix(places, WIDTH),
        "embeddings.token_type_embeddings.weight": matrix(2, WIDTH),
        "embeddings.LayerNorm.weight": vector(WIDTH, 1.0),
        "embeddings.LayerNorm.bias": vector(WIDTH),
    }
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        shapes = {f"attention.self.{n}": (WIDTH, WIDTH) for n in ("query", "key", "value")}
        shapes |= {
            "attention.output.dense": (WIDTH, WIDTH),
            "intermediate.dense": (HIDDEN, WIDTH),
            "output.dense": (WIDTH, HIDDEN),
        }
        for name, (rows, columns) in shapes.items():
            weights[f"{prefix}.{name}.weight"] = matrix(rows, columns)
            weights[f"{prefix}.{name}.bias"] = vector(rows)
        for name in ("attention.output", "output"):
            weights[f"{prefix}.{name}.LayerNorm.weight"] = vector(WIDTH, 1.0)
            weights[f"{prefix}.{name}.LayerNorm.bias"] = vector(WIDTH)
    save_file(weights, directory / "model.safetensors")
    config = {
        "model_type": "bert",
        "hidden_size": WIDTH,
        "intermediate_size": HIDDEN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 4,
        "max_position_embeddings": places,
    }
    graph = directory / "encoder.onnx"
    graph.write_bytes(
        bert_graph(
            directory / "model.safetensors", ModelConfig.model_validate_json(json.dumps(config))
        )
    )
    return graph
