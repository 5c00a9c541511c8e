"""The JSON files of a sentence-transformers or transformers directory, as far as they matter here.

Both have changed their spelling over the years; every spelling is read. What is not known is
ignored: these files are other people's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from service.bundle.manifest import Pooling
from service.errors import BundleError


class Config(BaseModel):
    """Base: immutable, and open to fields nobody here knows."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ModelConfig(Config):
    """`config.json`: the architecture."""

    model_type: str = ""
    hidden_size: int = Field(
        default=0, validation_alias=AliasChoices("hidden_size", "d_model", "dim", "n_embd")
    )
    num_hidden_layers: int = 0
    num_attention_heads: int = 0
    layer_norm_eps: float = 1e-12
    hidden_act: str = "gelu"
    position_embedding_type: str | None = "absolute"
    max_position_embeddings: int | None = None
    pad_token_id: int | None = None
    eos_token_id: int | list[int] | None = None
    matryoshka_dimensions: tuple[int, ...] = ()


class Module(Config):
    """One entry of `modules.json`."""

    path: str
    type: str

    @property
    def kind(self) -> str:
        """The class's own name: where it lives has changed between releases."""
        return self.type.rpartition(".")[2]


class TransformerConfig(Config):
    """The first of `TRANSFORMER_FILES` that is there."""

    max_seq_length: int | None = None
    do_lower_case: bool = False


class TokenizerConfig(Config):
    """`tokenizer_config.json`."""

    tokenizer_class: str = ""
    model_max_length: float | None = None


class PromptsConfig(Config):
    """`config_sentence_transformers.json`."""

    prompts: dict[str, str | None] = {}
    default_prompt_name: str | None = None


class DenseConfig(Config):
    """`config.json` of a Dense module."""

    in_features: int
    out_features: int
    activation_function: str = "torch.nn.modules.activation.Tanh"
    use_residual: bool = False


class PoolingConfig(Config):
    """`config.json` of a Pooling module, of one mode."""

    width: int = Field(
        default=0, validation_alias=AliasChoices("embedding_dimension", "word_embedding_dimension")
    )
    pooling_mode: str | list[str] | None = None
    pooling_mode_cls_token: bool = False
    pooling_mode_max_tokens: bool = False
    pooling_mode_mean_tokens: bool = False
    pooling_mode_lasttoken: bool = False
    pooling_mode_mean_sqrt_len_tokens: bool = False
    pooling_mode_weightedmean_tokens: bool = False
    include_prompt: bool = True

    def modes(self) -> list[str]:
        """Return the modes it names, in either spelling."""
        if isinstance(self.pooling_mode, str):
            return [self.pooling_mode]
        if self.pooling_mode is not None:
            return self.pooling_mode
        flags = {
            "cls": self.pooling_mode_cls_token,
            "max": self.pooling_mode_max_tokens,
            "mean": self.pooling_mode_mean_tokens,
            "lasttoken": self.pooling_mode_lasttoken,
            "mean_sqrt_len_tokens": self.pooling_mode_mean_sqrt_len_tokens,
            "weightedmean": self.pooling_mode_weightedmean_tokens,
        }
        return [name for name, chosen in flags.items() if chosen]


TRANSFORMER_FILES = tuple(
    f"sentence_{kind}_config.json"
    for kind in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)
"""Its first releases wrote a name for each architecture, and it reads them all to this day."""

POOLINGS: dict[str, Pooling] = {"mean": "mean", "cls": "cls", "max": "max", "lasttoken": "last"}

ACTIVATIONS: dict[str, Literal["identity", "tanh"]] = {"Identity": "identity", "Tanh": "tanh"}

Read = TypeVar("Read", bound=Config)

_MODULES = TypeAdapter(list[Module])


def read_config(path: Path, schema: type[Read]) -> Read:
    """Return what `path` says; the schema's defaults where there is no such file.

    Raises:
        BundleError: It is no JSON, or a field that matters has the wrong type.
    """
    if not path.exists():
        try:
            return schema()
        except ValidationError:
            raise BundleError(f"{path} is missing.", remedy="Copy the directory whole.") from None
    try:
        return schema.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise _broken(path, error) from None


def read_modules(path: Path) -> list[Module]:
    """Return the entries of `modules.json`, in order.

    Raises:
        BundleError: It is no list of modules.
    """
    try:
        return _MODULES.validate_json(path.read_bytes())
    except ValidationError as error:
        raise _broken(path, error) from None


def _broken(path: Path, error: ValidationError) -> BundleError:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"]) or "(whole)"
    return BundleError(
        f"{path} cannot be understood: {first['msg']}.", field=field, given=first["input"]
    )
