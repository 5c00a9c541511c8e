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

LIMIT_SECONDS = 600
"""Of a block. Each takes seconds; on a machine that is busy with other work, minutes."""

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(2 * LIMIT_SECONDS)]

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
    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def not_run(self) -> str | None:
        """Why it is not run."""
        if "jq " in self.text and shutil.which("jq") is None:
            return "jq is not installed"
        return next((reason for part, reason in NOT_RUN.items() if part in self.text), None)


def blocks(page: str) -> list[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found[1], found[2])
        for found in FENCE.finditer(text)
    ]


BLOCKS = [block for page in PAGES if (ROOT / page).exists() for block in blocks(page)]


class Reader:
    """Somebody who follows the pages, with a server, and the models at hand as in a checkout.

    Args:
        desk: Their directory.
        url: The server's.
    """

    def __init__(self, desk: Path, url: str) -> None:
        self._desk = desk
        self._url = url
        self._done: dict[str, bool] = {}  # block -> whether it worked

    def reach(self, block: Block) -> None:
        """Do what the page asks for above `block` and was not done yet: it may build upon it."""
        for earlier in blocks(block.page):
            if earlier.line < block.line and earlier.not_run is None:
                if earlier.place not in self._done:
                    self.do(earlier)
                if not self._done[earlier.place]:
                    pytest.fail(f"{earlier.place} on the same page does not work", pytrace=False)

    def do(self, block: Block) -> None:
        """Run `block` as it is printed; a transcript has to show what was printed."""
        self._done[block.place] = False
        text = block.text.replace("http://localhost:8000", self._url)
        text = text.replace("localhost:8000", self._url.removeprefix("http://"))
        if block.language == "python":
            self._run([sys.executable, "-c", text])
        elif block.language == "sh":
            # An error status of any curl, or of any part of a pipe, fails.
            curl = 'curl() { command curl --fail-with-body "$@"; }'
            self._run(["bash", "-c", f"set -euo pipefail\n{curl}\n{text}"])
        else:
            self._transcript(text)
        self._done[block.place] = True

    def _transcript(self, text: str) -> None:
        assert text.startswith("$ "), "a transcript begins with its command"
        command, _, printed = re.sub(r"\\\n\s*", "", text[2:]).partition("\n")
        # A refusal is what some transcripts show: its status is not looked at.
        # French puts a no-break space before its question mark, which pages show as a plain one.
        answer = self._run(["bash", "-c", command]).replace("\N{NO-BREAK SPACE}", " ")
        assert answer.rstrip("\n") == printed.rstrip("\n")

    def _run(self, command: list[str]) -> str:
        path = f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "INTERLINGUA_DATA": str(self._desk / "data")}
        done = subprocess.run(
            command,
            cwd=self._desk,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Reader:
    desk = tmp_path_factory.mktemp("desk")
    (desk / "models").symlink_to(ROOT / "models")
    return Reader(desk, server.url)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize("block", BLOCKS, ids=[block.place for block in BLOCKS])
def test_it_works_as_printed(block: Block, reader: Reader) -> None:
    if block.not_run is not None:
        pytest.skip(block.not_run)
    reader.reach(block)
    reader.do(block)


def test_there_is_something_to_run() -> None:
    assert len([block for block in BLOCKS if block.place.startswith("README")]) >= 3
    assert len([block for block in BLOCKS if block.place.startswith("docs/first")]) >= 5
