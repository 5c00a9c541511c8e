from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.cli import main

COMMAND = Path(sys.executable).with_name("interlingua")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_script(shell: str) -> None:
    script = CliRunner().invoke(main, ["completion", shell]).output
    assert f"_INTERLINGUA_COMPLETE={shell}_complete" in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.skipif(not COMMAND.exists(), reason="the package is not installed")
def test_bash_completes_commands_and_options() -> None:
    script = CliRunner().invoke(main, ["completion", "bash"]).output
    ask = f"""{script}
    COMP_WORDS=({COMMAND} se); COMP_CWORD=1; _interlingua_completion {COMMAND}
    echo "${{COMPREPLY[@]}}"; COMPREPLY=()
    COMP_WORDS=({COMMAND} bench --sec); COMP_CWORD=2; _interlingua_completion {COMMAND}
    echo "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["search serve", "--seconds"], done.stderr
