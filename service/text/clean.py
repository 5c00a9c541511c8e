"""Make any Python string safe to tokenise.

Case folding and Unicode normalisation belong to the tokenizer's own model file; this is only what
must not reach it at all.
"""

from __future__ import annotations

import re

# C0 and C1 controls (NUL among them) and lone surrogates. Tab and line breaks are blanks to
# every tokenizer we know, so they stay.
_UNSAFE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Return `text` with control characters and lone surrogates replaced by blanks.

    Such characters carry no meaning, yet NUL ends a string in C and a lone surrogate has no UTF-8
    form, so either may crash what comes after.
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(" ", text)


def encodable(text: str) -> str:
    """Return `text` with lone surrogates replaced by blanks; control characters stay.

    For tokenizers that have rules of their own for these: BERT's takes them out, so that a word
    that one stands in stays whole.
    """
    return text if text.isascii() else _LONE_SURROGATE.sub(" ", text)
