"""Two SentencePiece models over one text.

What one vocabulary has learnt badly of a word another cuts into pieces that it knows well, so an
encoder may read both. The text's tokens are the pieces of the first model, by which all lengths and
limits go; the pieces of the second are spread over them in their order, as many to each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from service.text.tokenizer import (
    Inputs,
    Piece,
    SentencePieceTokenizer,
    Side,
    TokenizedTexts,
    Tokens,
)
from service.text.vocabulary import pad_rows

_ALL = 2**31

_MOST = 8
"""Pieces of the second model to a token. Of a script that the first does not know it makes one
unknown token, however long the text is; a row of thousands would take memory for a whole batch."""


class PairedSentencePiece:
    """A row a token: the id of a piece of the first model, then ids of the second, 0 for none.

    Args:
        first: Whose pieces are the tokens.
        second: Whose pieces stand beside them; their ids are one more than the model's numbers.
    """

    def __init__(self, first: SentencePieceTokenizer, second: SentencePieceTokenizer) -> None:
        self._first = first
        self._second = second

    @property
    def vocabulary_size(self) -> int:
        """Number of pieces of the first model."""
        return self._first.vocabulary_size

    @property
    def beside_size(self) -> int:
        """Number of ids of the second, that for none included."""
        return 1 + self._second.vocabulary_size

    def encode(
        self, texts: Sequence[str], *, max_tokens: int, cut: Side = "right"
    ) -> TokenizedTexts:
        """Return int32 [tokens, features] for each text; a blank text has no tokens.

        Of a text that is cut, as large a part of the second model's pieces is kept as of the first.
        """
        found = self._first.encode(texts, max_tokens=max_tokens, cut=cut)
        beside = self._second.encode(texts, max_tokens=_ALL).tokens
        tokens: list[Tokens] = [
            side_by_side(kept, _part(others, len(kept), full, cut))
            for kept, others, full in zip(found.tokens, beside, found.full_lengths, strict=True)
        ]
        return TokenizedTexts(tokens, found.full_lengths, found.partly_read)

    def decode(self, tokens: Tokens) -> list[str]:
        """Return the pieces of the first model."""
        rows = np.asarray(tokens, dtype=np.int32)
        ids = rows[:, 0] if rows.ndim > 1 else rows
        return self._first.decode(ids.tolist())

    def text_of(self, ids: Sequence[int], *, special: bool = False) -> str:
        """Return the text of pieces of the first model."""
        return self._first.text_of(ids, special=special)

    def pieces(self, text: str, *, special: bool = True) -> list[Piece]:
        """Return the pieces of the first model."""
        return self._first.pieces(text, special=special)

    def collate(self, batch: Sequence[Tokens]) -> Inputs:
        """Return `ids` int64 [batch, tokens, features] and `mask` int64 [batch, tokens]."""
        return pad_rows(batch)


def side_by_side(first: Tokens, second: Tokens) -> npt.NDArray[np.int32]:
    """Return int32 [first, 1 + as many as each takes], `second` moved up by one.

    Each takes eight at most; what is left over then counts for nothing.

    >>> side_by_side([7, 8], [1, 2, 3]).tolist()
    [[7, 2, 3], [8, 4, 0]]
    """
    each = min(_MOST, -(-len(second) // max(1, len(first))))
    second = second[: len(first) * each]
    rows = np.zeros((len(first), 1 + each), dtype=np.int32)
    rows[:, 0] = first
    if len(first):
        beside = np.zeros(len(first) * each, dtype=np.int32)
        beside[: len(second)] = np.asarray(second, dtype=np.int32) + 1
        rows[:, 1:] = beside.reshape(len(first), each)
    return rows


def _part(tokens: Tokens, kept: int, full: int, cut: Side) -> Tokens:
    if kept == full:
        return tokens
    most = round(len(tokens) * kept / full)
    return tokens[:most] if cut == "right" else tokens[len(tokens) - most :]
