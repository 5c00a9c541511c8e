"""Bilingual dictionaries of the FreeDict project, as pairs of words.

Parallel sentences of small languages lack most words and nearly all inflected forms; dictionaries
have them. Read as Debian's packages `dict-freedict-<src>-<tgt>` unpack, in the format of dictd:

    freedict-<src>-<tgt>.index      headword, place and length of its entry, by tabs
    freedict-<src>-<tgt>.dict.dz    the entries, gzip

An entry is its headword with pronunciation and part of speech, then senses, numbered where there
are several: translations by commas, with definitions and examples on lines of their own. A headword
gives a pair with the first translations of each sense.
"""

from __future__ import annotations

import gzip
import re
import string
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from training.data.lines import BrokenLines

LANGUAGES = {
    **{"ara": "ar", "bul": "bg", "ces": "cs", "dan": "da", "deu": "de", "ell": "el", "eng": "en"},
    **{"fin": "fi", "fra": "fr", "hin": "hi", "hun": "hu", "ind": "id", "ita": "it", "jpn": "ja"},
    **{"nld": "nl", "nor": "nb", "pol": "pl", "por": "pt", "rom": "ro", "rus": "ru", "spa": "es"},
    **{"swe": "sv", "tur": "tr"},
}
"""FreeDict's codes of languages and ours."""

_FILE_NAME = re.compile(r"^freedict-([a-z]{3})-([a-z]{3})\.index$")
_DIGITS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
_PER_SENSE = 2
_PER_HEADWORD = 4
_WORDS = 4  # of a translation at most; longer ones explain
_AFTER_HEADWORD = re.compile(r"\s+[/<\[(].*$|,.*$")
_SENSE = re.compile(r"^\s*\d+\.\s+(.*)$")
_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]|\{[^}]*\}|<[^>]*>|[(\[{<].*$|::.*$")
_NUMBER_AFTER = re.compile(r"\s+\d+$")
_BETWEEN = re.compile(r"[,;،؛、/|]")
_MARKS = re.compile("[\u064b-\u0652\u0640]|(?<=[\u0400-\u04ff])\u0301")
"""Vowels of Arabic, stress of Cyrillic; dictionaries write them, texts do not."""


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The two files of one direction."""

    source: str
    target: str
    index: Path
    entries: Path


def find_freedict(folder: Path) -> list[Dictionary]:
    """Return the dictionaries below `folder` between languages of `LANGUAGES`, sorted by name."""
    found = []
    for index in sorted(folder.rglob("freedict-*.index")):
        named = _FILE_NAME.match(index.name)
        entries = index.with_suffix(".dict.dz")
        if named and entries.exists() and {*named.groups()} <= LANGUAGES.keys():
            found.append(Dictionary(LANGUAGES[named[1]], LANGUAGES[named[2]], index, entries))
    return found


def read_freedict(files: Dictionary, broken: BrokenLines) -> Iterator[tuple[str, str]]:
    """Yield headword and translation, a pair each time.

    Args:
        files: Of one dictionary.
        broken: Takes files that cannot be unpacked, and entries that lie outside of theirs.
    """
    try:
        content = gzip.decompress(files.entries.read_bytes())
    except (EOFError, OSError, zlib.error) as error:
        broken.add(files.entries, 0, f"not a gzip file: {error}")
        return
    seen: set[tuple[int, int]] = set()
    for number, line in enumerate(files.index.read_text(encoding="utf-8").splitlines(), start=1):
        name, _, place = line.partition("\t")
        try:
            start, length = map(_number, place.split("\t")[:2])
            entry = content[start : start + length].decode()
        except (ValueError, UnicodeDecodeError) as error:
            broken.add(files.index, number, f"no place of an entry: {error}")
            continue
        # Other spellings of a headword are further lines of the index for one entry.
        if name.startswith("00database") or (start, length) in seen:
            continue
        seen.add((start, length))
        yield from _pairs(entry)


def _pairs(entry: str) -> Iterator[tuple[str, str]]:
    first, *lines = entry.splitlines() or [""]
    headword = _AFTER_HEADWORD.sub("", first).strip()
    senses = [found[1] for line in lines if (found := _SENSE.match(line))]
    senses = senses or [line for line in lines if line.strip()][:1]
    translations = [word for sense in senses for word in _words(sense)[:_PER_SENSE]]
    if headword:
        for word in list(dict.fromkeys(translations))[:_PER_HEADWORD]:
            yield _MARKS.sub("", headword), word


def _words(sense: str) -> list[str]:
    if sense.lstrip().startswith(('"', "“")):
        return []  # an example
    plain = _MARKS.sub("", _ASIDE.sub(" ", sense).replace("~", " "))
    words = [
        _NUMBER_AFTER.sub("", " ".join(part.split()).strip(" .:")) for part in _BETWEEN.split(plain)
    ]
    return [word for word in words if word and len(word.split()) <= _WORDS]


def _number(digits: str) -> int:
    """Return what dictd writes in base 64, its most significant digit first."""
    if not digits:
        raise ValueError("a number is missing")
    value = 0
    for digit in digits:
        value = value * 64 + _DIGITS.index(digit)
    return value
