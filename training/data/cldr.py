"""The Unicode CLDR as n-way text: what things are called, in every language at once.

Parallel sentences of small languages lack most everyday nouns. The CLDR has names and keywords of
some 1,900 pictured things (volcano, squirrel, passport) and the names of countries, languages and
scripts in all of the larger languages, human-made. Read as its npm packages unpack:

    cldr-annotations-full    .../annotations/<lang>/annotations.json
    cldr-localenames-full    .../main/<lang>/{territories,languages,scripts}.json

A thing gives two rows: its name, and its name with its keywords, which is a bag of words as
additive composition sees a sentence.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import cast

from training.data.lines import BrokenLines
from training.data.nway import NWay

_ANNOTATIONS = "annotations.json"
_NAMES = ("territories", "languages", "scripts")

Tree = Mapping[str, object]


def find_cldr(folder: Path) -> dict[str, list[Path]]:
    """Return the CLDR files below `folder` by language (`zh-Hant` as `zh-hant`), sorted."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*.json")):
        kind = path.parent.parent.name
        if (kind, path.name) == ("annotations", _ANNOTATIONS) or (
            kind == "main" and path.stem in _NAMES
        ):
            found.setdefault(path.parent.name.lower(), []).append(path)
    return dict(sorted(found.items()))


def read_cldr(
    folder: Path, *, languages: Collection[str] | None = None, broken: BrokenLines
) -> NWay:
    """Read the CLDR files of `folder`, as `read_nway` reads line files.

    Args:
        folder: Holds the unpacked packages.
        languages: Those to read; all where None.
        broken: Takes the files that are not what they should be.
    """
    entries: dict[str, dict[str, str]] = {}
    for language, paths in find_cldr(folder).items():
        if languages is None or language in languages:
            entries[language] = {}
            for path in paths:
                try:
                    entries[language].update(_entries(path))
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    broken.add(path, 0, f"not a CLDR file: {error!r}")
    keys = sorted({key for column in entries.values() for key in column})
    return NWay(
        {
            language: [column.get(key, "") for key in keys]
            for language, column in entries.items()
            if column
        }
    )


def _entries(path: Path) -> Iterator[tuple[str, str]]:
    content = json.loads(path.read_text(encoding="utf-8"))
    if path.name == _ANNOTATIONS:
        yield from _annotations(content["annotations"]["annotations"])
    else:
        (locale,) = content["main"].values()
        yield from _names(path.stem, locale["localeDisplayNames"][path.stem])


def _annotations(things: Mapping[str, Mapping[str, list[str]]]) -> Iterator[tuple[str, str]]:
    for character, described in things.items():
        for name in described.get("tts", ())[:1]:
            yield f"name {character}", name
            words = [name, *(word for word in described.get("default", ()) if word != name)]
            yield f"words {character}", ", ".join(words)


def _names(kind: str, names: Tree) -> Iterator[tuple[str, str]]:
    for code, name in names.items():
        # Short and other variants of a name repeat it; a name that is its code says nothing.
        if "-alt-" not in code and name != code:
            yield f"{kind} {code}", cast(str, name)
