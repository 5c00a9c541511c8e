"""A vocabulary that is trained with and served: its file, and the tokenizer that reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from service.text.tokenizer import SentencePieceTokenizer, Tokenizer
from service.text.vocabulary import NgramTokenizer, read_vocabulary
from training.export import Reference, Tower


@dataclass(frozen=True, slots=True)
class ServedVocabulary:
    """A vocabulary, ready to be used and to be written into a bundle.

    Attributes:
        file: Its content.
        kind: As the bundle's manifest names it.
        tokenizer: The one that serves.
        ngrams: Ids of n-grams that a token may have besides its own, 0 for none included; 0 where
            it has none.
    """

    file: bytes
    kind: Literal["sentencepiece", "vocabulary"]
    tokenizer: Tokenizer
    ngrams: int = 0

    @classmethod
    def of_pieces(cls, file: bytes) -> ServedVocabulary:
        """Return the vocabulary of a SentencePiece model file."""
        return cls(file, "sentencepiece", SentencePieceTokenizer(file))

    @classmethod
    def of_words(cls, file: bytes) -> ServedVocabulary:
        """Return the vocabulary of a file of words, with or without n-grams."""
        tokenizer = read_vocabulary(file)
        ngrams = 1 + tokenizer.plan.buckets if isinstance(tokenizer, NgramTokenizer) else 0
        return cls(file, "vocabulary", tokenizer, ngrams)

    @property
    def size(self) -> int:
        """Ids of words or pieces."""
        return self.tokenizer.vocabulary_size

    @property
    def units(self) -> list[str]:
        """The word or piece of each id."""
        return self.tokenizer.decode(list(range(self.size)))

    def tower(self, graph: bytes, reference: Reference) -> Tower:
        """Return an encoder that reads this vocabulary, ready to be written.

        Args:
            graph: The ONNX file.
            reference: The same in torch.
        """
        return Tower(
            graph=graph,
            reference=reference,
            tokenizer=self.file,
            tokenizer_kind=self.kind,
            vocabulary=self.size,
            ngrams=self.ngrams,
        )
