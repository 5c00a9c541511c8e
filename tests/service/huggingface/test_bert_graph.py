from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from safetensors.numpy import save_file

from service.errors import BundleError
from service.huggingface.bert_graph import bert_graph
from service.huggingface.configs import ModelConfig
from tests.service.huggingface.random_weights import CONFIG, IDS, MASK, xlmr_weights

GOLDEN = Path(__file__).parents[2] / "golden" / "xlmr.npz"


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    save_file({f"roberta.{name}": array for name, array in xlmr_weights().items()}, path)
    return path


def test_xlmr_gives_transformers_token_vectors(weights: Path) -> None:
    """Places count from the pad's number; pads differ, and nobody looks at them."""
    graph = bert_graph(weights, ModelConfig.model_validate(CONFIG))
    session = ort.InferenceSession(graph, providers=["CPUExecutionProvider"])
    (states,) = session.run(None, {"ids": IDS, "mask": MASK})
    with np.load(GOLDEN) as golden:
        expected = golden["states"]
    kept = MASK.astype(bool)
    np.testing.assert_allclose(states[kept], expected[kept], atol=1e-5)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"model_type": "deberta-v2"}, "model_type"),
        ({"position_embedding_type": "relative_key"}, "model_type"),
        ({"hidden_act": "gelu_new"}, "hidden_act"),
    ],
)
def test_what_is_not_done_is_named(weights: Path, change: dict[str, object], field: str) -> None:
    with pytest.raises(BundleError) as caught:
        bert_graph(weights, ModelConfig.model_validate(CONFIG | change))
    assert caught.value.field == field
    assert "optimum" in str(caught.value)


def test_a_missing_weight_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"embeddings.word_embeddings.weight": np.zeros((4, 4), dtype=np.float32)}, path)
    with pytest.raises(BundleError, match="position_embeddings"):
        bert_graph(path, ModelConfig.model_validate(CONFIG))
    save_file({"x": np.zeros(2, dtype=np.float32)}, path)
    with pytest.raises(BundleError, match="no BERT"):
        bert_graph(path, ModelConfig.model_validate(CONFIG))
