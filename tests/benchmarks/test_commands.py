"""Each benchmark is in the list of the README beside it; each command that pages cite is one."""

from __future__ import annotations

import argparse
import gzip
import importlib
import re
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
LIST = ROOT / "benchmarks" / "README.md"
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), LIST)
CITED = re.compile(r"python (?:-m benchmarks\.|benchmarks/)(?:\\\n|[^`\n#])+")

LANGUAGES = ("en", "de", "fr", "es", "it", "ru")
FOLDERS = (
    "DIR",
    "MODEL",
    "MINILM",
    "minilm",
    "docs",
    "models/interlingua-fast",
    "models/interlingua-mini",
)
FILES = ("FILE", "PEERS/bin/python", *(f"{code}.txt" for code in LANGUAGES))
WORDS = {"N": "1", "NAME": "interlingua", "PICTURE": "picture.png"}
PAIRS = b"sentence1\tsentence2\tscore\na\tb\t5.0\n"


class Command(NamedTuple):
    place: str
    module: str
    arguments: list[str]


def modules() -> list[str]:
    """Return the benchmarks that take arguments as commands do."""
    found = []
    for path in sorted((ROOT / "benchmarks").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if 'if __name__ == "__main__"' in text and "ArgumentParser" in text + _imported(path):
            found.append(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return [name.removesuffix(".__main__") for name in found]


def _imported(path: Path) -> str:
    """Return what a benchmark of classifiers has from its neighbour, which makes the parser."""
    shared = path.with_name("api.py")
    return shared.read_text(encoding="utf-8") if shared.exists() else ""


def cited() -> list[Command]:
    commands = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in CITED.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            _, *words = shlex.split(found[0].replace("\\\n", " "))
            module = words[1] if words[0] == "-m" else words[0].removesuffix(".py")
            arguments = words[2:] if words[0] == "-m" else words[1:]
            place = f"{page.relative_to(ROOT)}:{line}"
            commands.append(Command(place, module.replace("/", "."), arguments))
    return commands


CITED_COMMANDS = cited()


class _Parsed(Exception):
    """The arguments are understood; nothing is to be run."""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with what the pages' commands name."""
    for name in FOLDERS:
        (tmp_path / name).mkdir(parents=True)
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "en.dev.tsv.gz").write_bytes(gzip.compress(PAIRS))
    (tmp_path / "DIR" / "service").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def main_of(module: str) -> object:
    """Return a benchmark's `main`; skip one whose subject is not installed."""
    if module == "benchmarks.with_mteb":
        pytest.importorskip("mteb")
    name = f"{module}.__main__" if (ROOT / module.replace(".", "/")).is_dir() else module
    return importlib.import_module(name).main


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("command", CITED_COMMANDS, ids=[c.place for c in CITED_COMMANDS])
def test_what_a_page_cites_is_understood(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(parser: argparse.ArgumentParser) -> None:
        _, unknown = parser.parse_known_args()
        assert not unknown, f"{parser.prog} does not know {unknown}"
        raise _Parsed

    arguments = [WORDS.get(word, word) for word in command.arguments]
    for place, word in enumerate(arguments):
        if word == "...":
            arguments[place] = arguments[place - 1]
    main = main_of(command.module)
    assert callable(main)
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse)
    monkeypatch.setattr(sys, "argv", [command.module, *arguments])
    with pytest.raises(_Parsed):
        main()


@pytest.mark.parametrize("module", modules())
def test_it_is_listed(module: str) -> None:
    listed = {command.module for command in CITED_COMMANDS if "benchmarks/README" in command.place}
    assert module in listed, f"{LIST} does not say what {module} measures"


def test_commands_are_found() -> None:
    assert len(modules()) > 30
    assert len({command.module for command in CITED_COMMANDS}) > 20
