"""Texts to token ids, whatever the tokenizer's file format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
import sentencepiece
import tokenizers

from service.bundle.manifest import TokenizerEntry
from service.errors import BundleError
from service.text.beginning import tokenize_beginnings
from service.text.boundaries import boundary_of
from service.text.clean import clean, encodable

Tokens = list[int] | npt.NDArray[np.int32]
"""The ids of one text, one a token; or int32 [tokens, features] where a token has several."""

Side = Literal["right", "left"]
"""The end of a text that is cut off when it is too long."""

Inputs = dict[str, npt.NDArray[np.int64]]
"""The arrays that a graph takes, by input name; each [batch, tokens, ...]."""


@dataclass(frozen=True, slots=True)
class TokenizedTexts:
    """The tokens of some texts, and how long each was before it was cut.

    Attributes:
        tokens: Of each text.
        full_lengths: Tokens that it had.
        partly_read: Positions of long texts whose end was not read: they have at least so many
            tokens, which are more than they were cut to.
    """

    tokens: list[Tokens]
    full_lengths: list[int]
    partly_read: frozenset[int] = frozenset()

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


@dataclass(frozen=True, slots=True)
class Piece:
    """One token, for people to read.

    Attributes:
        id: Its number in the vocabulary.
        text: As the vocabulary spells it.
        special: Whether the model wants it around the text, rather than the text having it.
        start: Where in the cleaned text it begins, in characters; None where that is not known.
        stop: Where it ends.
    """

    id: int
    text: str
    special: bool = False
    start: int | None = None
    stop: int | None = None


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

    def text_of(self, ids: Sequence[int], *, special: bool = False) -> str:
        """Return the text that `ids` stand for, as near as can be.

        Args:
            ids: All below `vocabulary_size`.
            special: Whether special tokens are shown too, as far as the vocabulary spells them.
        """
        ...

    def pieces(self, text: str, *, special: bool = True) -> list[Piece]:
        """Return the tokens of `text`, uncut, with the special ones around it or without."""
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


_FEW_TEXTS = 128
"""A list is encoded by threads that SentencePiece starts for it, at the price of about so many."""


class SentencePieceTokenizer:
    """A SentencePiece model; normalisation is inside the model file.

    Args:
        model: The content of a `.model` file.
        padding: Id of the pad; what the model says, or 0, if None.
    """

    def __init__(self, model: bytes, *, padding: int | None = None) -> None:
        self._processor = sentencepiece.SentencePieceProcessor()
        self._processor.LoadFromSerializedProto(model)
        self._padding_id = max(0, self._processor.pad_id()) if padding is None else padding

    @property
    def vocabulary_size(self) -> int:
        """Number of pieces."""
        return int(self._processor.GetPieceSize())

    def encode(
        self, texts: Sequence[str], *, max_tokens: int, cut: Side = "right"
    ) -> TokenizedTexts:
        """Return the piece ids of each text; a blank text has none."""
        cleaned = [clean(text) for text in texts]
        encode = self._processor.EncodeAsIds
        full: list[Tokens] = (
            list(map(encode, cleaned)) if len(cleaned) <= _FEW_TEXTS else encode(cleaned)
        )
        lengths = list(map(len, full))
        if max(lengths, default=0) > max_tokens:
            keep = slice(None, max_tokens) if cut == "right" else slice(-max_tokens, None)
            full = [tokens[keep] for tokens in full]
        return TokenizedTexts(full, lengths)

    def decode(self, tokens: Tokens) -> list[str]:
        """Return the pieces, with `▁` where a word begins."""
        return [str(self._processor.IdToPiece(token)) for token in tokens]

    def text_of(self, ids: Sequence[int], *, special: bool = False) -> str:
        """Return the text of the pieces `ids`, with control pieces such as `</s>` or without."""
        if not special:
            return str(self._processor.DecodeIds(list(ids)))
        # The library decodes a control piece to nothing, so that it is put between what it parts.
        return "".join(
            "".join(map(self._processor.IdToPiece, run))
            if control
            else str(self._processor.DecodeIds(list(run)))
            for control, run in groupby(ids, self._processor.IsControl)
        )

    def pieces(self, text: str, *, special: bool = True) -> list[Piece]:  # noqa: ARG002
        """Return the pieces of `text`; the model puts none around it."""
        cleaned = clean(text)
        # Releases of sentencepiece before 0.2.2 cannot tell where a piece lies.
        with_places = getattr(self._processor, "EncodeAsOffsetMapping", None)
        if with_places is None:
            ids = self._processor.EncodeAsIds(cleaned)
            return [Piece(id, str(self._processor.IdToPiece(id))) for id in ids]
        found = with_places(cleaned)
        return [
            Piece(id, piece, start=start, stop=stop)
            for id, piece, (start, stop) in zip(
                found["ids"], found["pieces"], found["offsets"], strict=True
            )
        ]

    def is_unknown(self, number: int) -> bool:
        """Return whether `number` stands for what the model has no piece for."""
        return bool(self._processor.IsUnknown(number))

    def collate(self, batch: Sequence[Tokens]) -> Inputs:
        """Return `ids` and `mask`, int64 [batch, tokens]."""
        return pad(batch, padding_id=self._padding_id)


_FEW_CHARACTERS = 10_000
"""One text is encoded under Python's lock, which nothing else runs beside; a list is not."""


class HuggingFaceTokenizer:
    """A Hugging Face `tokenizer.json`, special tokens included.

    Args:
        definition: The JSON text.
        padding: Id of the pad; what the text says, or 0, if None.
    """

    def __init__(self, definition: str, *, padding: int | None = None) -> None:
        self._tokenizer = tokenizers.Tokenizer.from_str(definition)
        said = self._tokenizer.padding
        self._padding_id = padding if padding is not None else int(said["pad_id"]) if said else 0
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._special_tokens = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        self._boundary = boundary_of(definition)

    @property
    def vocabulary_size(self) -> int:
        """Number of ids, added tokens included."""
        return int(self._tokenizer.get_vocab_size(with_added_tokens=True))

    def encode(
        self, texts: Sequence[str], *, max_tokens: int, cut: Side = "right"
    ) -> TokenizedTexts:
        """Return the ids of each text; the special tokens stay when the text is cut."""
        cleaned = [encodable(text) for text in texts]
        partly: frozenset[int] = frozenset()
        if cut == "right" and self._boundary is not None:
            cleaned, found, partly = tokenize_beginnings(
                cleaned, self._encodings, tokens=max_tokens, boundary=self._boundary
            )
        else:
            found = self._encodings(cleaned)
        tokens: list[Tokens] = [encoding.ids for encoding in found]
        lengths = list(map(len, tokens))
        for position, length in enumerate(lengths):
            if length > max_tokens:
                tokens[position] = self._encode_cut(cleaned[position], max_tokens, cut)
        return TokenizedTexts(tokens, lengths, partly)

    def _encodings(self, texts: list[str]) -> list[tokenizers.Encoding]:
        if len(texts) == 1 and len(texts[0]) <= _FEW_CHARACTERS:
            # Without the way to the library's threads and back.
            return [self._tokenizer.encode(texts[0])]
        found: list[tokenizers.Encoding] = self._tokenizer.encode_batch_fast(texts)
        return found  # without offsets

    def _encode_cut(self, text: str, max_tokens: int, cut: Side) -> Tokens:
        # Truncating an encoding that has its special tokens already would cut those off too.
        (plain,) = self._tokenizer.encode_batch_fast([text], add_special_tokens=False)
        plain.truncate(max(0, max_tokens - self._special_tokens), direction=cut)
        cut_tokens: Tokens = self._tokenizer.post_process(plain).ids
        return cut_tokens

    def decode(self, tokens: Tokens) -> list[str]:
        """Return the pieces as the vocabulary spells them."""
        return [self._tokenizer.id_to_token(token) or "" for token in tokens]

    def text_of(self, ids: Sequence[int], *, special: bool = False) -> str:
        """Return the text of the tokens `ids`."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=not special))

    def pieces(self, text: str, *, special: bool = True) -> list[Piece]:
        """Return the tokens of `text`."""
        (encoding,) = self._tokenizer.encode_batch([encodable(text)], add_special_tokens=special)
        return [
            Piece(id, piece, True) if mask else Piece(id, piece, False, start, stop)
            for id, piece, mask, (start, stop) in zip(
                encoding.ids,
                encoding.tokens,
                encoding.special_tokens_mask,
                encoding.offsets,
                strict=True,
            )
        ]

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
            pieces = SentencePieceTokenizer(path.read_bytes(), padding=entry.padding)
            if entry.numbering is None:
                return pieces
            # Here, since the other tokenizers build on this module.
            from service.text.numbered import NumberedSentencePiece

            return NumberedSentencePiece(pieces, entry.numbering, padding=entry.padding or 0)
        if entry.kind == "huggingface":
            definition = path.read_text(encoding="utf-8")
            return HuggingFaceTokenizer(definition, padding=entry.padding)
        from service.text.vocabulary import read_vocabulary

        return read_vocabulary(path.read_bytes())
    except Exception as error:  # both libraries raise bare Exception or RuntimeError
        raise BundleError(f"{path} is no {entry.kind} tokenizer: {error}.") from error
