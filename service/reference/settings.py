"""The page of settings."""

from __future__ import annotations

from typing import Any

from pydantic.fields import FieldInfo

from service.commands.settings_flags import flag_of
from service.reference.markdown import page, table
from service.settings import Settings

_INTRODUCTION = """\
Every setting is a flag of `interlingua serve`, a variable and a line of `.env` alike; the first of
these that is given wins. `interlingua doctor` prints what is in force and where it came from. Flags
that take several values are given several times; variables separate directories by `:` and keys by
`,`. An empty variable counts as not set; `INTERLINGUA_HEAD=` alone means no classifiers.

Other commands heed them too: `embed`, `index`, `search`, `classify` and `bench` take the first
model where no `--model` is given, `index` and `search` before it the one that made the corpus."""


def settings_page() -> str:
    """Return the page."""
    rows = [
        (f"`{flag_of(name)}`", f"`INTERLINGUA_{name.upper()}`", _default(field), _said(field))
        for name, field in Settings.model_fields.items()
    ]
    return page("Settings", _INTRODUCTION, table(("flag", "variable", "default", "what"), rows))


def _said(field: FieldInfo) -> str:
    assert field.description, "a setting without a description; see test_settings.py"
    return field.description


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None:
        made: Any = field.default_factory
        return "none" if made is list else "found at start"
    return "none" if field.default in (None, "") else f"`{field.default}`"
