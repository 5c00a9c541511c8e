"""Every setting as a flag, and flags as settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from service.settings import Settings


def settings_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give `command` a flag for every field of `Settings`, so the two cannot drift apart."""
    for name, field in reversed(Settings.model_fields.items()):
        command = _option(name, field)(command)
    return command


def flag_of(name: str) -> str:
    """Return the flag of a setting, such as `--batch-tokens`."""
    return "--" + name.replace("_", "-").removesuffix("s" if name == "api_keys" else "")


def _option(name: str, field: FieldInfo) -> Callable[[Callable[..., None]], Callable[..., None]]:
    flag = flag_of(name)
    annotation: Any = field.annotation
    if annotation is bool:
        flag = f"{flag}/--no-{name.replace('_', '-')}"
    return click.option(
        flag,
        name,
        default=None,
        multiple=getattr(annotation, "__origin__", None) is list,
        type=bool if annotation is bool else str,
        help=f"{field.description}. [env: INTERLINGUA_{name.upper()}]",
    )


def read_settings(**flags: object) -> Settings:
    """Return the settings: flags first, then environment, `.env` and defaults.

    Raises:
        click.UsageError: One or more settings cannot work; all are named at once.
    """
    given = {name: list(v) if isinstance(v, tuple) else v for name, v in flags.items()}
    try:
        return Settings.model_validate({n: v for n, v in given.items() if v not in (None, [])})
    except ValidationError as error:
        lines = [
            f"  {'.'.join(map(str, problem['loc'])) or 'settings'}: {problem['msg']}"
            for problem in error.errors()
        ]
        raise click.UsageError("These settings cannot work:\n" + "\n".join(lines)) from None
