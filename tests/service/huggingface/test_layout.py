from __future__ import annotations

import json
from pathlib import Path

import pytest

from service.errors import BundleError
from service.huggingface.layout import model_name, read_layout


def write(directory: Path, **files: object) -> Path:
    for name, content in files.items():
        path = directory / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".json").write_text(json.dumps(content))
    return directory


def modules(*kinds: tuple[str, str]) -> list[dict[str, str]]:
    return [{"path": path, "type": f"sentence_transformers.models.{kind}"} for kind, path in kinds]


CONFIG = {"model_type": "bert", "hidden_size": 32, "max_position_embeddings": 512}
POOLED = modules(("Transformer", ""), ("Pooling", "1_Pooling"))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/x/intfloat--e5", "intfloat--e5"),
        ("/hub/models--intfloat--multilingual-e5-small/snapshots/abc123", "multilingual-e5-small"),
        ("/x/All MiniLM (L6)", "all-minilm-l6"),
        ("/site-packages/some_model/model", "some_model"),
        ("/x/文", "model"),
    ],
)
def test_a_model_is_named_after_its_place(path: str, name: str) -> None:
    assert model_name(Path(path)) == name


@pytest.mark.parametrize(
    ("pooling", "message"),
    [
        ({"pooling_mode_mean_sqrt_len_tokens": True}, "mean_sqrt_len_tokens"),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, "cls + mean"),
        ({}, "(none)"),
        ({"pooling_mode": ["mean", "max"]}, "mean + max"),
    ],
)
def test_a_pooling_that_is_not_done_is_named(
    tmp_path: Path, pooling: dict[str, object], message: str
) -> None:
    write(tmp_path, modules=POOLED, config=CONFIG, **{"1_Pooling__config": pooling})
    with pytest.raises(BundleError) as caught:
        read_layout(tmp_path)
    assert message in str(caught.value)
    assert "What can be served" in str(caught.value)


def test_prompts_that_are_left_out_of_the_pooling_are_refused(tmp_path: Path) -> None:
    pooling = {"pooling_mode": "mean", "include_prompt": False}
    write(tmp_path, modules=POOLED, config=CONFIG, **{"1_Pooling__config": pooling})
    assert read_layout(tmp_path).pooling == "mean"  # without prompts it is all the same
    with pytest.raises(BundleError, match="prompt's tokens"):
        read_layout(tmp_path, more_prompts=True)
    write(tmp_path, config_sentence_transformers={"prompts": {"query": "q: ", "document": ""}})
    with pytest.raises(BundleError, match="prompt's tokens"):
        read_layout(tmp_path)


def test_a_module_that_is_not_done_is_named(tmp_path: Path) -> None:
    write(tmp_path, modules=modules(("Transformer", ""), ("LSTM", "1_LSTM")), config=CONFIG)
    with pytest.raises(BundleError, match="LSTM"):
        read_layout(tmp_path)


def test_pickled_weights_are_not_read(tmp_path: Path) -> None:
    write(
        tmp_path, modules=[*POOLED, *modules(("Dense", "2_Dense"))], config=CONFIG,
        **{"1_Pooling__config": {"pooling_mode": "cls"},
           "2_Dense__config": {"in_features": 32, "out_features": 8}},
    )  # fmt: skip
    (tmp_path / "2_Dense" / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(BundleError, match="pickle"):
        read_layout(tmp_path)


def test_a_dense_layer_of_another_kind_is_refused(tmp_path: Path) -> None:
    dense = {"in_features": 32, "out_features": 8, "activation_function": "torch.nn.GELU"}
    write(
        tmp_path, modules=[*POOLED, *modules(("Dense", "2_Dense"))], config=CONFIG,
        **{"1_Pooling__config": {"pooling_mode": "cls"}, "2_Dense__config": dense},
    )  # fmt: skip
    with pytest.raises(BundleError, match="GELU"):
        read_layout(tmp_path)


@pytest.mark.parametrize(
    ("order", "of_unit", "normalised"),
    [
        (("Dense", "Normalize"), (False,), True),
        (("Normalize", "Dense"), (True,), False),
        (("Normalize", "Dropout", "Dense", "Dense", "Normalize"), (True, False), True),
        (("Dense",), (False,), False),
    ],
)
def test_what_follows_the_pooling_keeps_its_order(
    tmp_path: Path, order: tuple[str, ...], of_unit: tuple[bool, ...], normalised: bool
) -> None:
    write(
        tmp_path, modules=[*POOLED, *modules(*((kind, kind) for kind in order))], config=CONFIG,
        **{"1_Pooling__config": {"pooling_mode": "cls"},
           "Dense__config": {"in_features": 32, "out_features": 32}},
    )  # fmt: skip
    (tmp_path / "Dense" / "model.safetensors").touch()
    layout = read_layout(tmp_path)
    assert tuple(layer.of_unit for layer in layout.dense) == of_unit
    assert layout.normalised == normalised


def test_modules_of_token_vectors_are_refused(tmp_path: Path) -> None:
    order = modules(("Transformer", ""), ("Normalize", "1_Normalize"), ("Pooling", "2_Pooling"))
    write(tmp_path, modules=order, config=CONFIG, **{"2_Pooling__config": {"pooling_mode": "cls"}})
    with pytest.raises(BundleError, match="before the Pooling"):
        read_layout(tmp_path)


def test_broken_json_is_named_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(BundleError, match=r"config\.json cannot be understood"):
        read_layout(tmp_path)


@pytest.mark.parametrize(
    ("model", "tokenizer", "sentence", "expected"),
    [
        (CONFIG, {"model_max_length": 1e30}, {}, 512),
        (CONFIG, {"model_max_length": 256}, {}, 256),
        (CONFIG, {"model_max_length": 256}, {"max_seq_length": 128}, 128),
        # RoBERTa's table has two rows more than places.
        (CONFIG | {"model_type": "xlm-roberta", "max_position_embeddings": 514, "pad_token_id": 1},
         {}, {}, 512),
        ({"model_type": "x", "hidden_size": 4}, {}, {}, 512),
        ({"model_type": "x", "hidden_size": 4}, {"model_max_length": 131072}, {}, 65536),
        (CONFIG, {}, {"max_seq_length": 131072}, 65536),
    ],
)  # fmt: skip
def test_the_longest_input(
    tmp_path: Path,
    model: dict[str, object],
    tokenizer: dict[str, object],
    sentence: dict[str, object],
    expected: int,
) -> None:
    write(tmp_path, config=model, tokenizer_config=tokenizer, sentence_bert_config=sentence)
    assert read_layout(tmp_path).max_tokens == expected


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert", "xlm-roberta", "xlnet"])
def test_the_longest_input_under_the_names_of_first_releases(tmp_path: Path, kind: str) -> None:
    write(tmp_path, config=CONFIG, **{f"sentence_{kind}_config": {"max_seq_length": 128}})
    assert read_layout(tmp_path).max_tokens == 128


@pytest.mark.parametrize(
    ("model", "pooling", "expected"),
    [
        ({"hidden_size": 32}, {"word_embedding_dimension": 8}, 32),
        ({"n_embd": 768}, {}, 768),  # as Nomic's models spell it
        ({"text_config": {"hidden_size": 32}}, {"word_embedding_dimension": 32}, 32),
        ({}, {"embedding_dimension": 32}, 32),  # as newer releases write it
        ({}, {}, 0),
    ],
)
def test_the_width_of_vectors(
    tmp_path: Path, model: dict[str, object], pooling: dict[str, object], expected: int
) -> None:
    pooled = {"1_Pooling__config": pooling | {"pooling_mode": "cls"}}
    write(tmp_path, modules=POOLED, config=model, **pooled)
    assert read_layout(tmp_path).dimension == expected


def test_the_transformer_may_lie_in_a_folder(tmp_path: Path) -> None:
    entries = modules(("Transformer", "0_Transformer"), ("Normalize", "2_Normalize"))
    write(tmp_path, modules=entries, **{"0_Transformer__config": CONFIG})
    (tmp_path / "0_Transformer" / "onnx").mkdir()
    (tmp_path / "0_Transformer" / "onnx" / "model.onnx").touch()
    layout = read_layout(tmp_path)
    assert layout.transformer == tmp_path / "0_Transformer"
    assert layout.graph == tmp_path / "0_Transformer" / "onnx" / "model.onnx"
    assert layout.normalised
    assert layout.dimension == 32


def test_another_graph_may_be_named(tmp_path: Path) -> None:
    write(tmp_path, config=CONFIG)
    (tmp_path / "model_O2.onnx").touch()
    assert read_layout(tmp_path).graph is None
    assert read_layout(tmp_path, graph="model_O2.onnx").graph == tmp_path / "model_O2.onnx"
    with pytest.raises(BundleError, match="not there"):
        read_layout(tmp_path, graph="model_O4.onnx")
