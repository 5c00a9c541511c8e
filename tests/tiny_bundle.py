"""A real bundle in miniature, for tests that need a model but not a good one.

A SentencePiece model trained on a few sentences written here, and a random table of token vectors
gathered and averaged by an ONNX graph: every part of a served model, in 100 kB, made in under a
second and without torch.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import sentencepiece
from onnx import TensorProto, helper, numpy_helper

from service.bundle.manifest import EncoderEntry, Manifest, Recipe, TokenizerEntry
from service.bundle.writer import file_entries, write_bundle

DIMENSION = 16
MAX_TOKENS = 64
LANGUAGES = ("ar", "de", "en", "es", "fr", "ja", "ru", "zh")

SENTENCES = (
    "The cat sleeps on the warm windowsill.",
    "Fresh bread smells best in the early morning.",
    "Rivers carry sand and stones down to the sea.",
    "Die Katze schläft auf der warmen Fensterbank.",
    "Frisches Brot duftet am frühen Morgen am besten.",
    "Le chat dort sur le rebord chaud de la fenêtre.",
    "El gato duerme en el alféizar soleado de la ventana.",
    "Кошка спит на тёплом подоконнике у окна.",
    "القطة تنام على حافة النافذة الدافئة.",
    "猫在温暖的窗台上睡觉。",
    "猫は暖かい窓辺で眠っている。",
)


def make_tiny_bundle(
    directory: Path,
    *,
    name: str = "tiny",
    space: str = "tiny-space",
    seed: int = 7,
    prompts: Mapping[str, str] | None = None,
) -> Path:
    """Write a tiny encoder bundle into `directory` and return it.

    Its prompt `ask` is of neither side of a search, unless `prompts` says otherwise.
    """
    tokenizer = _tokenizer()
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(tokenizer)
    files = {
        "encoder.onnx": mean_of_token_vectors(
            np.random.default_rng(seed)
            .standard_normal((processor.GetPieceSize(), DIMENSION))
            .astype(np.float32)
        ),
        "tokenizer.model": tokenizer,
    }
    manifest = Manifest(
        name=name,
        family="static",
        space=space,
        dimension=DIMENSION,
        matryoshka_dimensions=(8,),
        languages=LANGUAGES,
        max_tokens=MAX_TOKENS,
        pooling="mean",
        prompts=dict(prompts or {"ask": "question: "}),
        encoders={
            "*": EncoderEntry(
                graph="encoder.onnx",
                tokenizer=TokenizerEntry(kind="sentencepiece", file="tokenizer.model"),
            )
        },
        precision="fp32",
        files=file_entries(files),
        recipe=Recipe(name="tiny", scale="smoke"),
        licence="Apache-2.0",
    )
    write_bundle(directory, manifest, files)
    return directory


def _tokenizer() -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 4),
        model_writer=model,
        vocab_size=480,
        model_type="bpe",
        byte_fallback=True,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
    )
    return model.getvalue()


def mean_of_token_vectors(table: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> bytes:
    """Return an ONNX graph: ids, mask [batch, tokens] -> masked mean of rows of `table`."""
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["rows"]),
        helper.make_node("Cast", ["mask"], ["weights"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["weights", "last"], ["column"]),
        helper.make_node("Mul", ["rows", "column"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "tokens"], ["total"], keepdims=0),
        helper.make_node("ReduceSum", ["weights", "tokens"], ["count"], keepdims=1),
        helper.make_node("Max", ["count", "one"], ["divisor"]),
        helper.make_node("Div", ["total", "divisor"], ["vectors"]),
    ]
    axes = ["batch", "tokens"]
    graph = helper.make_graph(
        nodes,
        "mean_of_token_vectors",
        [helper.make_tensor_value_info(name, TensorProto.INT64, axes) for name in ("ids", "mask")],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", table.shape[1]])],
        [
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(np.array([-1], dtype=np.int64), "last"),
            numpy_helper.from_array(np.array([1], dtype=np.int64), "tokens"),
            numpy_helper.from_array(np.array(1.0, dtype=np.float32), "one"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())
