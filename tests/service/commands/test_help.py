"""What every command keeps to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from service.cli import COMMANDS, main


def all_commands(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            yield from all_commands(child, (*path, name))
    else:
        yield path, command


SERVING = [found for root in COMMANDS for found in all_commands(root, (str(root.name),))]


@pytest.mark.parametrize(("path", "command"), SERVING, ids=[" ".join(p) for p, _ in SERVING])
def test_help_has_an_example_and_says_what_each_option_is(
    path: tuple[str, ...], command: click.Command
) -> None:
    shown = CliRunner().invoke(main, [*path, "--help"])
    assert shown.exit_code == 0
    assert "Example" in shown.output
    assert f"interlingua {path[0]}" in shown.output
    for option in command.params:
        if isinstance(option, click.Option) and option.name != "help":
            assert option.help or option.show_default, f"{option.opts} says nothing"


def test_nothing_heavy_is_imported_for_help() -> None:
    code = (
        "import sys; from service.cli import main; main(['--help'], standalone_mode=False); "
        "print(sorted({'onnxruntime', 'faiss', 'fastapi', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


def test_an_unknown_command_is_used_wrongly() -> None:
    assert CliRunner().invoke(main, ["nothing"]).exit_code == 2
