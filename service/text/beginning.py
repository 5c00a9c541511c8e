"""The beginning of a long text that has as many tokens as are wanted: what follows is not read.

A text of megabytes takes seconds to tokenise, and a model sees some hundred tokens of it. Where a
tokenizer makes the same tokens of what stands before a boundary whatever comes after it, a
beginning that ends there has the first tokens of the whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Sized
from typing import TypeVar

Tokenized = TypeVar("Tokenized", bound=Sized)

CHARACTERS_EACH = 16
"""So many characters are read for each token that is wanted, at first; prose has about four."""

_GROWTH = 4
"""A beginning that has too few tokens is followed by one so many times as long."""

BLANK = re.compile(r"(?<=\S)[ \t\n]")
"""Ends a word for every tokenizer that works by words. No normal form of Unicode joins these
characters with what is before them."""

BLANK_OR_IDEOGRAPH = re.compile(r"(?<=\S)[ \t\n]|[\u4e00-\u9fff]")
"""The same for tokenizers to which each ideograph is a word."""


def tokenize_beginnings(
    texts: Sequence[str],
    tokenize: Callable[[list[str]], Sequence[Tokenized]],
    *,
    tokens: int,
    boundary: re.Pattern[str],
) -> tuple[list[str], list[Tokenized], frozenset[int]]:
    """Tokenise `texts`, of long ones no more than is needed to have more than `tokens` tokens.

    Args:
        texts: Of any length.
        tokenize: Gives the tokens of each text of a list.
        tokens: What is kept of a text in the end, from its beginning.
        boundary: Before a match of it, tokens do not depend on what comes from there on.

    Returns:
        What was read of each text, the tokens of that, and the positions of texts that were not
        read to their end.
    """
    longer = {
        position: _beginnings(text, CHARACTERS_EACH * tokens, boundary)
        for position, text in enumerate(texts)
        if len(text) > CHARACTERS_EACH * tokens
    }
    if not longer:
        return list(texts), list(tokenize(list(texts))), frozenset()
    read = [next(longer[n]) if n in longer else text for n, text in enumerate(texts)]
    found = list(tokenize(read))
    while short := [n for n in longer if len(found[n]) <= tokens and len(read[n]) < len(texts[n])]:
        for position in short:
            read[position] = next(longer[position])
        again = tokenize([read[position] for position in short])
        for position, result in zip(short, again, strict=True):
            found[position] = result
    return read, found, frozenset(n for n in longer if len(read[n]) < len(texts[n]))


def _beginnings(text: str, size: int, boundary: re.Pattern[str]) -> Iterator[str]:
    """Give longer and longer beginnings of `text` that end before `boundary`, at last all of it."""
    while size * 2 < len(text):
        place = boundary.search(text, size, size * 2)
        if place is not None:
            yield text[: place.start()]
        size *= _GROWTH
    yield text
