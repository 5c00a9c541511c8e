"""Normalisation that sets punctuation apart: "don't" becomes "don ' t".

BERT's tokenizer parts words so (Devlin et al. 2019; google-research/bert, tokenization.py), and a
vocabulary whose pieces shall be its WordPieces has to meet the same words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from itertools import product

import sentencepiece

_UNASSIGNED = frozenset({"Cn", "Co", "Cs"})
_HALF_WIDTH = tuple(map(chr, range(0xFF66, 0xFF9E)))
_HALF_WIDTH_MARKS = ("\uff9e", "\uff9f")  # they voice the sign before them


def rules_with_punctuation_apart(rule: str) -> str:
    """Return what SentencePiece calls a rule's TSV: that of `rule`, and spaces about punctuation.

    Args:
        rule: One of SentencePiece's own, such as `nmt_nfkc_cf`.
    """
    normaliser = sentencepiece.SentencePieceNormalizer(
        rule_name=rule,
        add_dummy_prefix=False,
        escape_whitespaces=False,
        remove_extra_whitespaces=False,
    )
    given = sorted(_sequences())
    found = {text: _apart(normaliser.normalize(text)) for text in given}
    return "".join(
        f"{_codes(text)}\t{_codes(found[text])}\n" for text in given if found[text] != text
    )


def is_punctuation(character: str) -> bool:
    """Return whether BERT's tokenizer parts words at `character`: signs of ASCII count as well."""
    if character.isascii():
        return character.isprintable() and not character.isalnum() and character != " "
    return unicodedata.category(character).startswith("P")


def _sequences() -> Iterator[str]:
    """Yield each character, and what is the same as one: with its marks behind it."""
    for code in range(1, 0x110000):
        character = chr(code)
        if unicodedata.category(character) not in _UNASSIGNED:
            yield character
            if (parts := unicodedata.normalize("NFD", character)) != character:
                yield parts
    yield from map("".join, product(_HALF_WIDTH, _HALF_WIDTH_MARKS))


def _apart(text: str) -> str:
    parted = "".join(f" {sign} " if is_punctuation(sign) else sign for sign in text)
    return parted.replace("  ", " ")


def _codes(characters: Iterable[str]) -> str:
    return " ".join(f"{ord(character):X}" for character in characters)
