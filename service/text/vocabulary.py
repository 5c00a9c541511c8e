"""Tokenizers over a vocabulary of whole words, alone or with hashed character n-grams.

The file is JSON:

    {"version": 1, "lower": true, "unknown_buckets": 1, "words": ["the", ...],
     "ngrams": {"sizes": [3, 4], "buckets": 200000}}

- Id 0 is the pad; 1 .. unknown_buckets take words that are not in the list, by hash; the listed
  words follow in their order.
- `ngrams` may be missing. N-grams have ids of their own, all by hash: 0 is none, then 1 .. buckets.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from service.text.beginning import BLANK_OR_IDEOGRAPH, tokenize_beginnings
from service.text.clean import clean
from service.text.tokenizer import Inputs, Piece, Side, TokenizedTexts, Tokens, pad
from service.text.words import split_words

PADDING_ID = 0

_LONGEST_WORD = 32
"""Letters of a word that n-grams are made of; longer ones are links and noise."""


class NgramPlan(BaseModel):
    """Which character n-grams of a word are hashed into how many buckets."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sizes: tuple[int, ...] = Field(min_length=1)
    buckets: int = Field(ge=1, le=2**31 - 2)


class Vocabulary(BaseModel):
    """The content of a vocabulary file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = Field(default=1, ge=1, le=1)
    lower: bool
    unknown_buckets: int = Field(default=1, ge=1, le=2**30)
    words: tuple[str, ...]
    ngrams: NgramPlan | None = None

    @property
    def size(self) -> int:
        """How many word ids there are, pad and buckets included."""
        return 1 + self.unknown_buckets + len(self.words)

    def write(self) -> bytes:
        """Return the file's content."""
        return self.model_dump_json(exclude_none=True).encode()


def bucket(text: str, buckets: int) -> int:
    """Return the id, 1 .. buckets, that `text` falls to; the same on every machine."""
    return 1 + zlib.crc32(text.encode("utf-8", "surrogatepass")) % buckets


class WordTokenizer:
    """One id a word.

    Args:
        vocabulary: Its words.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        first = 1 + vocabulary.unknown_buckets
        self._ids = {word: first + place for place, word in enumerate(vocabulary.words)}

    @property
    def vocabulary_size(self) -> int:
        """Number of word ids."""
        return self.vocabulary.size

    def words(self, text: str) -> list[str]:
        """Return the words of `text` as the vocabulary spells them."""
        return split_words(clean(text), lower=self.vocabulary.lower)

    def word_id(self, word: str) -> int:
        """Return the id of `word`: its own, or its bucket's."""
        found = self._ids.get(word)
        return bucket(word, self.vocabulary.unknown_buckets) if found is None else found

    def encode(
        self, texts: Sequence[str], *, max_tokens: int, cut: Side = "right"
    ) -> TokenizedTexts:
        """Return the word ids of each text; a blank text has none."""
        full, partly = self.words_of(texts, max_tokens=max_tokens, cut=cut)
        tokens: list[Tokens] = [
            [self.word_id(word) for word in _cut(words, max_tokens, cut)] for words in full
        ]
        return TokenizedTexts(tokens, list(map(len, full)), partly)

    def words_of(
        self, texts: Sequence[str], *, max_tokens: int, cut: Side
    ) -> tuple[list[list[str]], frozenset[int]]:
        """Return the words of each text, and the positions of those that have more.

        Of a text that is cut on the right, the words that are kept, and one more at least.
        """
        if cut == "left":
            return [self.words(text) for text in texts], frozenset()
        _, words, partly = tokenize_beginnings(
            texts,
            lambda some: [self.words(text) for text in some],
            tokens=max_tokens,
            boundary=BLANK_OR_IDEOGRAPH,
        )
        return words, partly

    def decode(self, tokens: Tokens) -> list[str]:
        """Return the words; `<unknown>` for what fell to a bucket, `<pad>` for the pad."""
        return [self._word(int(token)) for token in tokens]

    def text_of(self, ids: Sequence[int], *, special: bool = False) -> str:
        """Return the words of `ids` with blanks between; where one was unknown, the sign of it."""
        return " ".join(self._word(id) for id in ids if special or id != PADDING_ID)

    def pieces(self, text: str, *, special: bool = True) -> list[Piece]:  # noqa: ARG002
        """Return the words of `text`; there are none around it."""
        return [Piece(self.word_id(word), word) for word in self.words(text)]

    def _word(self, token: int) -> str:
        if token == PADDING_ID:
            return "<pad>"
        place = token - 1 - self.vocabulary.unknown_buckets
        return self.vocabulary.words[place] if place >= 0 else "<unknown>"

    def collate(self, batch: Sequence[Tokens]) -> Inputs:
        """Return `ids` and `mask`, int64 [batch, tokens]."""
        return pad(batch, padding_id=PADDING_ID)


class NgramTokenizer:
    """A row of features a word: its word id, then the ids of its character n-grams.

    Chidambaram et al. 2018, sections 2.1 and 3.2. The word stands between `<` and `>` when it is
    cut into n-grams, so beginnings and ends are told from middles (Bojanowski et al. 2017, 3.1; the
    paper itself does not say).

    Args:
        vocabulary: Its words and n-grams.

    Raises:
        ValueError: The vocabulary has no n-grams.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        if vocabulary.ngrams is None:
            raise ValueError("the vocabulary has no n-grams")
        self.vocabulary = vocabulary
        self.plan = vocabulary.ngrams
        self._words = WordTokenizer(vocabulary)

    @property
    def vocabulary_size(self) -> int:
        """Number of word ids."""
        return self.vocabulary.size

    def words(self, text: str) -> list[str]:
        """Return the words of `text` as the vocabulary spells them."""
        return self._words.words(text)

    def features(self, word: str) -> list[int]:
        """Return the word's id and the ids of its n-grams."""
        marked = f"<{word[:_LONGEST_WORD]}>"
        return [
            self._words.word_id(word),
            *(
                bucket(marked[start : start + size], self.plan.buckets)
                for size in self.plan.sizes
                for start in range(len(marked) - size + 1)
            ),
        ]

    def encode(
        self, texts: Sequence[str], *, max_tokens: int, cut: Side = "right"
    ) -> TokenizedTexts:
        """Return int32 [words, features] for each text, padded with 0 on the right."""
        full, partly = self._words.words_of(texts, max_tokens=max_tokens, cut=cut)
        tokens: list[Tokens] = [
            feature_rows([self.features(word) for word in _cut(words, max_tokens, cut)])
            for words in full
        ]
        return TokenizedTexts(tokens, list(map(len, full)), partly)

    def decode(self, tokens: Tokens) -> list[str]:
        """Return the words as `WordTokenizer.decode` does; n-grams cannot be read back."""
        return self._words.decode([int(row[0]) for row in _matrix(tokens)])

    def text_of(self, ids: Sequence[int], *, special: bool = False) -> str:
        """Return the words of the word ids `ids`."""
        return self._words.text_of(ids, special=special)

    def pieces(self, text: str, *, special: bool = True) -> list[Piece]:
        """Return the words of `text` with their word ids; n-grams are left out."""
        return self._words.pieces(text, special=special)

    def collate(self, batch: Sequence[Tokens]) -> Inputs:
        """Return `ids` int64 [batch, tokens, features] and `mask` int64 [batch, tokens]."""
        return pad_rows(batch)


def pad_rows(batch: Sequence[Tokens]) -> Inputs:
    """Return `ids` int64 [batch, tokens, features] and `mask` int64 [batch, tokens], pads 0.

    Args:
        batch: int32 [tokens, features] for each text; a list of ids is of one feature.
    """
    rows = [_matrix(tokens) for tokens in batch]
    width = max([1, *(row.shape[0] for row in rows)])
    # Runtimes stumble over an axis of length 0, so there is always room for one more feature.
    features = max([2, *(row.shape[1] for row in rows)])
    ids = np.full((len(rows), width, features), PADDING_ID, dtype=np.int64)
    mask = np.zeros((len(rows), width), dtype=np.int64)
    for place, row in enumerate(rows):
        ids[place, : row.shape[0], : row.shape[1]] = row
        mask[place, : row.shape[0]] = 1
    return {"ids": ids, "mask": mask}


def feature_rows(features: Sequence[Sequence[int]]) -> npt.NDArray[np.int32]:
    """Return int32 [words, longest], padded with 0 on the right; [0, 1] where there is no word."""
    longest = max(map(len, features), default=1)
    rows = np.zeros((len(features), longest), dtype=np.int32)
    for place, row in enumerate(features):
        rows[place, : len(row)] = row
    return rows


def read_vocabulary(content: bytes) -> WordTokenizer | NgramTokenizer:
    """Return the tokenizer of a vocabulary file.

    Raises:
        ValueError: The content is no vocabulary (pydantic's ValidationError is one).
    """
    vocabulary = Vocabulary.model_validate_json(content)
    return NgramTokenizer(vocabulary) if vocabulary.ngrams else WordTokenizer(vocabulary)


def _matrix(tokens: Tokens) -> npt.NDArray[np.int32]:
    """Return int32 [words, features] of a text's tokens, whether rows or bare word ids."""
    rows = np.asarray(tokens, dtype=np.int32)
    return rows if rows.ndim == 2 else rows[:, None]


def _cut(words: list[str], most: int, side: Side) -> list[str]:
    if len(words) <= most:
        return words
    return words[:most] if side == "right" else words[len(words) - most :]
