"""The page of commands: what each says of itself."""

from __future__ import annotations

from collections.abc import Iterator

import click

from service.cli import main
from service.reference.markdown import block, page, table

_WIDTH = 96
_TRAIN, _RECIPES = "interlingua train", "interlingua recipes"

_CONVENTIONS = """\
Texts come as arguments or on standard input, a line each; results go to standard output and nothing
else does, so that pipes work. Progress and remarks go to standard error; progress is a moving line
only where that is a terminal. `interlingua completion bash` prints what makes a shell complete
commands and options (`zsh` and `fish` too)."""

_EXIT_CODES = (
    ("0", "Done."),
    (
        "1",
        "Failed; one line on standard error says why and what to do. `doctor`: it would not work.",
    ),
    ("2", "Used wrongly, a setting that cannot work, or an address that cannot be listened on."),
    ("130", "Interrupted."),
)


def commands_page() -> str:
    """Return the page."""
    parts = [_CONVENTIONS, "## Exit codes", table(("code", "meaning"), _EXIT_CODES)]
    for path, command in _walk(main, "interlingua"):
        context = click.Context(
            command,
            info_name=path,
            terminal_width=_WIDTH,
            max_content_width=_WIDTH,
            help_option_names=main.context_settings["help_option_names"],
        )
        parts += [f"## {path}", block(command.get_help(context))]
    return page("Command line", *parts)


def _walk(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    found_by_file = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        if path == _TRAIN and name not in group.commands:
            found_by_file.append(command)
            continue
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from _walk(command, f"{path} {name}")
    for command in found_by_file[:1]:  # recipes all take the same options
        command.help = f"Train by RECIPE, any that `{_RECIPES}` lists."
        yield f"{path} RECIPE", command
