"""A SentencePiece model whose pieces the encoder numbers in its own way.

XLM-R and its kin took the numbers of fairseq: its special tokens first, then the pieces, all moved
up by one; T5 and Llama keep the file's numbers and put tokens around the text.
"""

from __future__ import annotations

from collections.abc import Sequence

from service.bundle.manifest import Numbering
from service.text.tokenizer import (
    Inputs,
    Piece,
    SentencePieceTokenizer,
    Side,
    TokenizedTexts,
    Tokens,
    pad,
)


class NumberedSentencePiece:
    """A SentencePiece model behind a numbering.

    Args:
        pieces: The model.
        numbering: How its numbers become ids.
        padding: Id of the pad.
    """

    def __init__(
        self, pieces: SentencePieceTokenizer, numbering: Numbering, *, padding: int
    ) -> None:
        self._pieces = pieces
        self._numbering = numbering
        self._padding = padding
        unknown = numbering.unknown
        self._ids = [
            unknown if unknown is not None and pieces.is_unknown(n) else n + numbering.offset
            for n in range(pieces.vocabulary_size)
        ]
        self._numbers = {id: number for number, id in enumerate(self._ids)}

    @property
    def vocabulary_size(self) -> int:
        """One more than the largest id."""
        around = (*self._numbering.before, *self._numbering.after, self._padding)
        return 1 + max(*self._ids, *around)

    def encode(
        self, texts: Sequence[str], *, max_tokens: int, cut: Side = "right"
    ) -> TokenizedTexts:
        """Return the ids of each text; the tokens around it stay when it is cut."""
        before, after = list(self._numbering.before), list(self._numbering.after)
        around = len(before) + len(after)
        inner = self._pieces.encode(texts, max_tokens=max(1, max_tokens - around), cut=cut)
        return TokenizedTexts(
            [before + [self._ids[n] for n in tokens] + after for tokens in inner.tokens],
            [length + around for length in inner.full_lengths],
        )

    def decode(self, tokens: Tokens) -> list[str]:
        """Return the pieces, with `▁` where a word begins; nothing for the tokens around."""
        return [
            self._pieces.decode([self._numbers[t]])[0] if t in self._numbers else "" for t in tokens
        ]

    def text_of(self, ids: Sequence[int], *, special: bool = False) -> str:  # noqa: ARG002
        """Return the text of those of `ids` that are pieces; those around have no spelling."""
        return self._pieces.text_of([self._numbers[id] for id in ids if id in self._numbers])

    def pieces(self, text: str, *, special: bool = True) -> list[Piece]:
        """Return the tokens of `text`."""
        inner = [
            Piece(self._ids[piece.id], piece.text, start=piece.start, stop=piece.stop)
            for piece in self._pieces.pieces(text)
        ]
        if not special:
            return inner
        before, after = (
            [Piece(id, "", special=True) for id in ids]
            for ids in (self._numbering.before, self._numbering.after)
        )
        return [*before, *inner, *after]

    def collate(self, batch: Sequence[Tokens]) -> Inputs:
        """Return `ids` and `mask`, int64 [batch, tokens]."""
        return pad(batch, padding_id=self._padding)
