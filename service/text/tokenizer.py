"""Texts to token ids, whatever the tokenizer's file format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
import sentencepiece
import tokenizers

from service.bundle.manifest import TokenizerEntry
from service.errors import BundleError
from service.text.clean import clean

Tokens = list[int] | npt.NDArray[np.int32]
"""The ids of one text, one a token; or int32 [tokens, features] where a token has several."""

Side = Literal["right", "left"]
"""The end of a text that is cut off when it is too long."""

Inputs = dict[str, npt.NDArray[np.int64]]
"""The arrays that a graph takes, by input name; each [batch, tokens, ...]."""


@dataclass(frozen=True, slots=True)
class TokenizedTexts:
    """The tokens of some texts, and how long each was before it was cut."""

    tokens: list[Tokens]
    full_lengths: list[int]

    @property
    def truncated(self) -> list[int]:
        """Positions of the texts that were cut."""
        return [
            position
            for position, (tokens, full) in enumerate(
                zip(self.tokens, self.full_lengths, strict=True)
            )
            if len(tokens) < full
        ]


class Tokenizer(Protocol):
    """What the inference side needs of a tokenizer."""

    @property
    def vocabulary_size(self) -> int:
        """How many ids there are: all lie in 0 .. vocabulary_size - 1."""
        ...

    def encode(
        self, texts: Sequence[str], *, max_tokens: int, cut: Side = "right"
    ) -> TokenizedTexts:
        """Return the ids of each text, cut to `max_tokens` at the side `cut`."""
        ...

    def decode(self, tokens: Tokens) -> list[str]:
        """Return the piece of text behind each id, for people to read."""
        ...

    def collate(self, batch: Sequence[Tokens]) -> Inputs:
        """Return the padded arrays for a graph."""
        ...


def pad(batch: Sequence[Tokens], *, padding_id: int) -> Inputs:
    """Return `ids` and `mask`, int64 [batch, tokens], padded on the right to the longest text.

    A text without tokens gets a mask of zeros; there is always at least one column.
    """
    width = max(1, max(map(len, batch), default=1))
    ids = np.full((len(batch), width), padding_id, dtype=np.int64)
    mask = np.zeros((len(batch), width), dtype=np.int64)
    for row, tokens in enumerate(batch):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    return {"ids": ids, "mask": mask}


class SentencePieceTokenizer:
    """A SentencePiece model; normalisation is inside the model file.

    Args:
        model: The content of a `.model` file.
    """

    def __init__(self, model: bytes) -> None:
        self._processor = sentencepiece.SentencePieceProcessor()
        self._processor.LoadFromSerializedProto(model)
        self._padding_id = max(0, self._processor.pad_id())

    @property
    def vocabulary_size(self) -> int:
        """Number of pieces."""
        return int(self._processor.GetPieceSize())

    def encode(
        self, texts: Sequence[str], *, max_tokens: int, cut: Side = "right"
    ) -> TokenizedTexts:
        """Return the piece ids of each text; a blank text has none."""
        full: list[Tokens] = self._processor.EncodeAsIds([clean(text) for text in texts])
        lengths = list(map(len, full))
        if max(lengths, default=0) > max_tokens:
            keep = slice(None, max_tokens) if cut == "right" else slice(-max_tokens, None)
            full = [tokens[keep] for tokens in full]
        return TokenizedTexts(full, lengths)

    def decode(self, tokens: Tokens) -> list[str]:
        """Return the pieces, with `▁` where a word begins."""
        return [str(self._processor.IdToPiece(token)) for token in tokens]

    def collate(self, batch: Sequence[Tokens]) -> Inputs:
        """Return `ids` and `mask`, int64 [batch, tokens]."""
        return pad(batch, padding_id=self._padding_id)


class HuggingFaceTokenizer:
    """A Hugging Face `tokenizer.json`, special tokens included.

    Args:
        definition: The JSON text.
    """

    def __init__(self, definition: str) -> None:
        self._tokenizer = tokenizers.Tokenizer.from_str(definition)
        padding = self._tokenizer.padding
        self._padding_id = int(padding["pad_id"]) if padding else 0
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._special_tokens = self._tokenizer.num_special_tokens_to_add(is_pair=False)

    @property
    def vocabulary_size(self) -> int:
        """Number of ids, added tokens included."""
        return int(self._tokenizer.get_vocab_size(with_added_tokens=True))

    def encode(
        self, texts: Sequence[str], *, max_tokens: int, cut: Side = "right"
    ) -> TokenizedTexts:
        """Return the ids of each text; the special tokens stay when the text is cut."""
        cleaned = [clean(text) for text in texts]
        tokens: list[Tokens] = [e.ids for e in self._tokenizer.encode_batch(cleaned)]
        lengths = list(map(len, tokens))
        for position, length in enumerate(lengths):
            if length > max_tokens:
                tokens[position] = self._encode_cut(cleaned[position], max_tokens, cut)
        return TokenizedTexts(tokens, lengths)

    def _encode_cut(self, text: str, max_tokens: int, cut: Side) -> Tokens:
        # Truncating an encoding that has its special tokens already would cut those off too.
        plain = self._tokenizer.encode(text, add_special_tokens=False)
        plain.truncate(max(0, max_tokens - self._special_tokens), direction=cut)
        cut_tokens: Tokens = self._tokenizer.post_process(plain).ids
        return cut_tokens

    def decode(self, tokens: Tokens) -> list[str]:
        """Return the pieces as the vocabulary spells them."""
        return [self._tokenizer.id_to_token(token) or "" for token in tokens]

    def collate(self, batch: Sequence[Tokens]) -> Inputs:
        """Return `ids` and `mask`, int64 [batch, tokens]."""
        return pad(batch, padding_id=self._padding_id)


def load_tokenizer(entry: TokenizerEntry, path: Path) -> Tokenizer:
    """Return the tokenizer in `path`.

    Raises:
        BundleError: The file is not of the kind that the manifest names.
    """
    try:
        if entry.kind == "sentencepiece":
            return SentencePieceTokenizer(path.read_bytes())
        if entry.kind == "huggingface":
            return HuggingFaceTokenizer(path.read_text(encoding="utf-8"))
        # Here, since the vocabulary's tokenizers build on this module.
        from service.text.vocabulary import read_vocabulary

        return read_vocabulary(path.read_bytes())
    except Exception as error:  # both libraries raise bare Exception or RuntimeError
        raise BundleError(f"{path} is no {entry.kind} tokenizer: {error}.") from error
