"""Where a Hugging Face tokenizer parts a text so that what comes after changes nothing before.

Told from `tokenizer.json`, whose parts are known one by one; where one is not in the lists below,
nothing is promised. A blank after a word, or an ideograph where each is a word, is

- no part of an added token: those are ASCII without blanks, and mind no neighbours;
- no part of what the normaliser joins: it works on single characters and on Unicode's normal forms;
- the beginning of a word, or between words, for the pre-tokenizer; a model sees one word at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import orjson
from pydantic import JsonValue

from service.text.beginning import BLANK, BLANK_OR_IDEOGRAPH

Part: TypeAlias = Mapping[str, JsonValue]

_NORMALIZERS = frozenset(
    {"BertNormalizer", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "StripAccents"}
)
_PARTS_AT_BLANKS = frozenset({"BertPreTokenizer", "Whitespace", "WhitespaceSplit"})
_PARTS_WORDS = frozenset({"Digits", "Punctuation"})
"""Pre-tokenizers that part further what one of the above has parted."""


def boundary_of(definition: str) -> re.Pattern[str] | None:
    """Return what the tokens before do not depend on; None where that cannot be told.

    Args:
        definition: The text of a `tokenizer.json`.
    """
    said = orjson.loads(definition)
    if not all(_is_plain(token) for token in said.get("added_tokens") or ()):
        return None
    normalizers = list(_parts(said.get("normalizer"), "normalizers"))
    pre_tokenizers = list(_parts(said.get("pre_tokenizer"), "pretokenizers"))
    if not all(part.get("type") in _NORMALIZERS for part in normalizers):
        return None
    if _is_byte_level(pre_tokenizers):
        return BLANK
    kinds = {part.get("type") for part in pre_tokenizers}
    if not kinds & _PARTS_AT_BLANKS or kinds - _PARTS_AT_BLANKS - _PARTS_WORDS:
        return None
    each_ideograph = any(part.get("handle_chinese_chars") for part in normalizers)
    return BLANK_OR_IDEOGRAPH if each_ideograph else BLANK


def _is_plain(token: Part) -> bool:
    content = token.get("content")
    return (
        isinstance(content, str)
        and content.isascii()
        and not any(character.isspace() for character in content)
        and not token.get("single_word")
    )


def _is_byte_level(pre_tokenizers: list[Part]) -> bool:
    """Return whether GPT-2's pattern parts the words, each with the blank before it."""
    return (
        len(pre_tokenizers) == 1
        and pre_tokenizers[0].get("type") == "ByteLevel"
        and pre_tokenizers[0].get("use_regex") is True
    )


def _parts(part: Part | None, members: str) -> Iterator[Part]:
    """Give the parts of a sequence, of sequences in it too; one part alone is one of one."""
    if part is None:
        return
    if part.get("type") != "Sequence":
        yield part
        return
    inner = part.get(members)
    for one in inner if isinstance(inner, list) else ():
        if isinstance(one, Mapping):
            yield from _parts(one, members)
