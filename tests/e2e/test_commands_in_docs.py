"""Every command block of the README and of the first pages, run as it is printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.conftest import COMMAND, Server

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    *(
        f"docs/{n}.md"
        for n in ("first-steps", "embed", "search", "mine", "classification", "training")
    ),
)
NOT_RUN = {
    "make ": "this very test is run by make",
    "pip install": "the environment of the tests is installed already",
    "docker ": "tested with the image",
}
FENCE = re.compile(r"^```(sh|console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    place: str
    language: str
    text: str


def blocks(page: str) -> list[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Block(f"{page}:{text.count(chr(10), 0, found.start()) + 1}", found[1], found[2])
        for found in FENCE.finditer(text)
    ]


BLOCKS = [block for page in PAGES if (ROOT / page).exists() for block in blocks(page)]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of somebody who follows the pages; the models are at hand as in a checkout."""
    directory = tmp_path_factory.mktemp("desk")
    (directory / "models").symlink_to(ROOT / "models")
    return directory


def run(command: list[str], desk: Path) -> str:
    path = f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "INTERLINGUA_DATA": str(desk / "data")}
    done = subprocess.run(
        command, cwd=desk, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def shell(text: str, desk: Path) -> str:
    """Run `text`; an error status of any curl, or of any part of a pipe, fails."""
    script = f'set -euo pipefail\ncurl() {{ command curl --fail-with-body "$@"; }}\n{text}'
    return run(["bash", "-c", script], desk)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize("block", BLOCKS, ids=[block.place for block in BLOCKS])
def test_it_works_as_printed(block: Block, server: Server, desk: Path) -> None:
    for part, reason in NOT_RUN.items():
        if part in block.text:
            pytest.skip(reason)
    text = block.text.replace("http://localhost:8000", server.url)
    text = text.replace("localhost:8000", server.url.removeprefix("http://"))
    if block.language == "python":
        run([sys.executable, "-c", text], desk)
    elif block.language == "sh":
        shell(text, desk)
    else:
        assert text.startswith("$ "), "a transcript begins with its command"
        command, _, printed = re.sub(r"\\\n\s*", "", text[2:]).partition("\n")
        if "jq " in command and shutil.which("jq") is None:
            pytest.skip("jq is not installed")
        # A refusal is what some transcripts show: its status is not looked at.
        # French puts a no-break space before its question mark, which pages show as a plain one.
        answer = run(["bash", "-c", command], desk).replace("\N{NO-BREAK SPACE}", " ")
        assert answer.rstrip("\n") == printed.rstrip("\n")


def test_there_is_something_to_run() -> None:
    assert len([block for block in BLOCKS if block.place.startswith("README")]) >= 3
    assert len([block for block in BLOCKS if block.place.startswith("docs/first")]) >= 5
