"""What every command keeps to."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import training.cli
from service.cli import COMMANDS, INTERRUPTED, main


def all_commands(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            yield from all_commands(child, (*path, name))
    else:
        yield path, command


ROOTS = (*COMMANDS, *training.cli.commands)
ALL = [found for root in ROOTS for found in all_commands(root, (str(root.name),))]


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(p) for p, _ in ALL])
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


def test_a_command_that_is_interrupted_says_so_by_its_code(tiny_bundle: Path) -> None:
    # A job in the background of a shell script is born with the interrupt ignored.
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from service.cli import main; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", code, "embed", "--model", str(tiny_bundle)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write("cat\n" * 5000)  # more than a chunk: an answer says that it is running
    process.stdin.flush()
    assert process.stdout is not None
    assert process.stdout.readline().startswith("[")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == INTERRUPTED
    assert said.strip() == "Interrupted."


def test_an_unknown_command_is_used_wrongly() -> None:
    assert CliRunner().invoke(main, ["nothing"]).exit_code == 2
