"""What sentence-transformers' ways to encode all take."""

from __future__ import annotations

from typing import Literal, TypedDict

from service.inference.formats import Format


class EncodeArguments(TypedDict, total=False):
    """Arguments of `Encoder.encode` by name, less the texts and their prompt; all may be left out.

    What each means is said there.
    """

    batch_size: int
    show_progress_bar: bool | None
    output_value: Literal["sentence_embedding"]
    precision: Format
    convert_to_numpy: bool
    convert_to_tensor: bool
    device: str | None
    normalize_embeddings: bool
    truncate_dim: int | None
    language: str | None
