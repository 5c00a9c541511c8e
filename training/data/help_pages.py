"""The help of LibreOffice as n-way text: paragraphs that bear one mark in every language.

Read as Debian's packages `libreoffice-help-<lang>` unpack, a folder a language:

    <lang>/text/<part>/.../<page>.html      <p id="par_id3154254">You can prevent ...</p>

A paragraph that was not translated repeats the English, and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from html import unescape
from pathlib import Path

from training.data.lines import BrokenLines
from training.data.nway import NWay

_PARAGRAPH = re.compile(r'<(p|h[1-6])\b[^>]*\bid="((?:par|hd|bm)_\w+)"[^>]*>(.*?)</\1>', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_SHORTEST = 12
"""Characters; less is the name of a key or a button."""

_CODES = {"en-us": "en", "zh-cn": "zh", "zh-tw": "zh-hant"}


def find_help(folder: Path) -> dict[str, Path]:
    """Return the folders of pages below `folder` by language, sorted."""
    found = {}
    for text in sorted(folder.glob("*/text")):
        if next(text.rglob("*.html"), None):
            code = text.parent.name.lower()
            found[_CODES.get(code, code)] = text
    return dict(sorted(found.items()))


def read_help(
    folder: Path, *, languages: Collection[str] | None = None, broken: BrokenLines
) -> NWay:
    """Read the pages of `folder`, as `read_nway` reads line files.

    Args:
        folder: Holds a folder a language.
        languages: Those to read; all where None.
        broken: Takes the pages that are not UTF-8.
    """
    columns: dict[str, dict[tuple[str, str], str]] = {}
    for language, text in find_help(folder).items():
        if languages is None or language in languages:
            columns[language] = {}
            for page in sorted(text.rglob("*.html")):
                try:
                    content = page.read_text(encoding="utf-8")
                except UnicodeDecodeError as error:
                    broken.add(page, 0, f"not UTF-8: {error.reason}")
                    continue
                name = str(page.relative_to(text))
                for _, mark, inside in _PARAGRAPH.findall(content):
                    plain = " ".join(unescape(_TAG.sub("", inside)).split())
                    if len(plain) >= _SHORTEST:
                        columns[language][name, mark] = plain
    english = columns.get("en", {})
    for language, column in columns.items():
        if language != "en":
            for key in [key for key, plain in column.items() if plain == english.get(key)]:
                del column[key]
    keys = sorted({key for column in columns.values() for key in column})
    return NWay(
        {
            language: [column.get(key, "") for key in keys]
            for language, column in columns.items()
            if column
        }
    )
