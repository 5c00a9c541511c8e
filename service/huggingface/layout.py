"""What a directory of sentence-transformers or transformers holds, said in our words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from service.bundle.manifest import LONGEST_INPUT, Pooling
from service.errors import BundleError
from service.huggingface.configs import (
    ACTIVATIONS,
    POOLINGS,
    TRANSFORMER_FILES,
    DenseConfig,
    ModelConfig,
    Module,
    PoolingConfig,
    PromptsConfig,
    TokenizerConfig,
    TransformerConfig,
    read_config,
    read_modules,
)

GRAPHS = ("onnx/model.onnx", "model.onnx")
"""Where exporters put the graph in full precision."""

_COUNT_FROM_PAD = ("camembert", "mpnet", "roberta", "xlm-roberta")
_UNKNOWN_LENGTH = 512
_ENDLESS = 1_000_000
"""transformers writes 1e30 where it knows no limit."""


@dataclass(frozen=True, slots=True)
class Dense:
    """A dense layer after pooling; `of_unit` says that its input is scaled to length 1 first."""

    weights: Path
    activation: Literal["identity", "tanh"]
    width: int
    of_unit: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """All that matters of such a directory.

    Attributes:
        directory: It.
        model: Its `config.json`.
        tokenizer: Its `tokenizer_config.json`.
        transformer: Where the transformer's own files are: it, or a folder in it.
        graph: The ONNX graph, or None where there are only weights.
        pooling: How token vectors become one; None where nothing is said.
        width: Of a token's vector; 0 where nothing is said.
        include_prompt: Whether a prompt's tokens are pooled too.
        dense: Layers after that.
        normalised: Whether the model itself scales its vectors to length 1.
        max_tokens: The longest input, special tokens included.
        lower: Whether text is lowered before it is tokenised.
        prompts: Name -> text put before an input; nothing is, of an empty one.
        default_prompt: Which of them is put where none is named.
    """

    directory: Path
    model: ModelConfig
    tokenizer: TokenizerConfig
    transformer: Path
    graph: Path | None
    pooling: Pooling | None
    width: int
    include_prompt: bool
    dense: tuple[Dense, ...]
    normalised: bool
    max_tokens: int
    lower: bool
    prompts: dict[str, str]
    default_prompt: str | None

    @property
    def dimension(self) -> int:
        """Width of a vector; 0 where nothing is said."""
        return self.dense[-1].width if self.dense else self.width


def is_huggingface(directory: Path) -> bool:
    """Return whether `directory` looks like one."""
    return any((directory / name).is_file() for name in ("modules.json", "config.json"))


def read_layout(directory: Path, *, graph: str | None = None, more_prompts: bool = False) -> Layout:
    """Return what `directory` holds.

    Args:
        directory: Of sentence-transformers, or of transformers alone: then nothing is said of the
            pooling, and nothing is normalised.
        graph: The ONNX file to take, relative to `directory`; the usual one if None.
        more_prompts: Whether it shall have prompts besides its own.

    Raises:
        BundleError: A file is missing or broken, or it wants what is not done here.
    """
    path = directory / "modules.json"
    modules = read_modules(path) if path.exists() else []
    transformer = _transformer(directory, modules)
    model = read_config(transformer / "config.json", ModelConfig)
    sentence = read_config(_transformer_file(transformer), TransformerConfig)
    tokenizer = read_config(transformer / "tokenizer_config.json", TokenizerConfig)
    said = read_config(directory / "config_sentence_transformers.json", PromptsConfig)
    prompts = {name: text or "" for name, text in said.prompts.items()}
    pooling = _pooling_config(directory, modules)
    dense, normalised = _after_pooling(directory, modules)
    default = said.default_prompt_name
    return Layout(
        directory=directory,
        model=model,
        tokenizer=tokenizer,
        transformer=transformer,
        graph=_graph(directory, transformer, graph),
        pooling=_pooling(pooling, with_prompts=more_prompts or any(prompts.values())),
        width=model.hidden_size or (pooling[1].width if pooling else 0),
        include_prompt=pooling[1].include_prompt if pooling else True,
        dense=dense,
        normalised=normalised,
        max_tokens=_max_tokens(sentence, tokenizer, model),
        lower=sentence.do_lower_case,
        prompts=prompts,
        default_prompt=default if default in prompts else None,
    )


def model_name(directory: Path) -> str:
    """Return a name for the model in `directory`, from where it lies.

    The cache of the Hugging Face hub has `models--intfloat--e5-small/snapshots/HASH`.
    """
    parts = directory.resolve().parts
    cached = [part for part in parts if part.startswith("models--")]
    if cached:
        name = cached[-1].rpartition("--")[2]
    elif parts[-1] in ("model", "onnx") and len(parts) > 1:
        name = parts[-2]
    else:
        name = parts[-1]
    cleaned = re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-._")
    return cleaned[:64] or "model"


def _transformer(directory: Path, modules: list[Module]) -> Path:
    unknown = [m.kind for m in modules if m.kind not in _KNOWN]
    if unknown:
        raise BundleError(
            f"{directory} has modules that are not done here: {', '.join(unknown)}.",
            remedy=f"Models of {', '.join(_KNOWN)} can be served.",
        )
    found = [m.path for m in modules if m.kind == "Transformer"]
    if modules and not found:
        raise BundleError(f"{directory}/modules.json names no Transformer.")
    return directory / found[0] if found else directory


def _transformer_file(transformer: Path) -> Path:
    paths = [transformer / name for name in TRANSFORMER_FILES]
    return next((path for path in paths if path.is_file()), paths[0])


_KNOWN = ("Transformer", "Pooling", "Dense", "Normalize", "Dropout")


def _graph(directory: Path, transformer: Path, named: str | None) -> Path | None:
    if named is not None:
        path = directory / named
        if not path.is_file():
            raise BundleError(f"{path} is not there.", field="graph", given=named)
        return path
    candidates = [folder / name for name in GRAPHS for folder in (directory, transformer)]
    return next((path for path in candidates if path.is_file()), None)


def _pooling_config(directory: Path, modules: list[Module]) -> tuple[Path, PoolingConfig] | None:
    found = [m.path for m in modules if m.kind == "Pooling"]
    if not found:
        return None
    path = directory / found[0] / "config.json"
    return path, read_config(path, PoolingConfig)


def _pooling(said: tuple[Path, PoolingConfig] | None, *, with_prompts: bool) -> Pooling | None:
    if said is None:
        return None
    path, config = said
    modes = config.modes()
    if len(modes) != 1 or modes[0] not in POOLINGS:
        raise BundleError(
            f"{path} asks for the pooling {' + '.join(modes) or '(none)'}.",
            remedy=f"What can be served: {', '.join(POOLINGS)}, one at a time.",
        )
    if with_prompts and not config.include_prompt:
        raise BundleError(
            f"{path} leaves the prompt's tokens out of the pooling, which is not done here.",
            field="include_prompt",
        )
    return POOLINGS[modes[0]]


def _after_pooling(directory: Path, modules: list[Module]) -> tuple[tuple[Dense, ...], bool]:
    """Return the dense layers, and whether vectors have length 1 in the end."""
    layers: list[Dense] = []
    unit = False
    for module in modules:
        if module.kind == "Pooling" and (layers or unit):
            raise BundleError(
                f"{directory}/modules.json has a Dense or Normalize before the Pooling, which is "
                "not done here: of token vectors.",
                field="modules",
            )
        if module.kind == "Dense":
            layers.append(_dense(directory, module, of_unit=unit))
        unit = module.kind == "Normalize" or (unit and module.kind != "Dense")
    return tuple(layers), unit


def _dense(directory: Path, module: Module, *, of_unit: bool) -> Dense:
    folder = directory / module.path
    config = read_config(folder / "config.json", DenseConfig)
    activation = config.activation_function.rpartition(".")[2]
    if activation not in ACTIVATIONS or config.use_residual:
        raise BundleError(
            f"{folder} is a dense layer of a kind that is not done here: {activation}"
            f"{', with a residual' if config.use_residual else ''}.",
            remedy=f"What can be served: {', '.join(ACTIVATIONS)}, without a residual.",
        )
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise BundleError(
            f"{weights} is missing; weights in pickle files are not read, since they may run code.",
            remedy="Load it with sentence-transformers and save it again: that writes safetensors.",
        )
    return Dense(weights, ACTIVATIONS[activation], config.out_features, of_unit)


def _max_tokens(sentence: TransformerConfig, tokenizer: TokenizerConfig, model: ModelConfig) -> int:
    if sentence.max_seq_length:
        return min(sentence.max_seq_length, LONGEST_INPUT)
    said = tokenizer.model_max_length
    limits = [int(said)] if said is not None and said < _ENDLESS else []
    if model.max_position_embeddings:
        # RoBERTa counts its places from the pad's number on.
        first = (model.pad_token_id or 0) + 1 if model.model_type in _COUNT_FROM_PAD else 0
        limits.append(model.max_position_embeddings - first)
    return min(*limits, LONGEST_INPUT) if limits else _UNKNOWN_LENGTH
