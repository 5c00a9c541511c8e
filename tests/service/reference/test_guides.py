"""That what the guides name is there: commands, options, variables, metrics, files, anchors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from service.cli import main
from service.settings import Settings
from service.telemetry.metrics import Metrics

ROOT = Path(__file__).parents[3]
MADE = ("docs/reference", "docs/reproduction")
"""Pages that are made from the code or from results."""

GUIDES = [
    path
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md")))
    if not path.relative_to(ROOT).as_posix().startswith(MADE)
]
NOT_SETTINGS = {"INTERLINGUA_TEST_SCHEDULES", "INTERLINGUA_TRAIN_DATA"}
"""Variables that the service does not read: of the tests, and of the compose file."""

pytestmark = [
    pytest.mark.skipif(not (ROOT / "docs").exists(), reason="no docs in this installation"),
    pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.relative_to(ROOT).as_posix()),
]

_CODE = re.compile(r"^```.*?\n(.*?)^```$|`([^`\n]+(?:\n[^`\n]+)?)`", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"(?:^|[|;&] )interlingua ([a-z][^\n|;&#]*)", re.MULTILINE)


def code_of(guide: Path) -> Iterator[str]:
    """Give each block and each piece between backticks, a command's lines joined."""
    for block, piece in _CODE.findall(guide.read_text(encoding="utf-8")):
        yield re.sub(r"\\\n\s*", " ", block) or " ".join(piece.split())


def named(guide: Path, pattern: str) -> set[str]:
    return set(re.findall(pattern, guide.read_text(encoding="utf-8")))


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """Return the command that `words` begin with, and the rest of them."""
    command: click.Command = main
    context = click.Context(main)
    while isinstance(command, click.Group) and words:
        if words[0].isupper():  # `train RECIPE` stands for any
            return command.get_command(context, command.list_commands(context)[0]) or command, []
        found = command.get_command(context, words[0])
        if found is None:
            break
        command, words = found, words[1:]
    return command, words


def test_each_command_has_the_options_that_it_is_given(guide: Path) -> None:
    for code in code_of(guide):
        for given in _COMMAND.findall(code):
            command, rest = command_of(given.split())
            assert command is not main, f"there is no command {given!r}"
            known = {option for p in command.params for option in (*p.opts, *p.secondary_opts)}
            options = {re.split(r"[=.,:]", word)[0] for word in rest if word.startswith("--")}
            assert options <= known | {"--help"}, given


def test_each_variable_is_a_setting(guide: Path) -> None:
    settings = {f"INTERLINGUA_{name.upper()}" for name in Settings.model_fields}
    assert named(guide, r"INTERLINGUA_[A-Z_]+[A-Z]") <= settings | NOT_SETTINGS


def test_each_metric_is_one(guide: Path) -> None:
    families = [family.name for family in Metrics().registry.collect()]
    metrics = {name + end for name in families for end in ("", "_total", "_bucket", "_count")}
    assert named(guide, r"\binterlingua_[a-z_]+[a-z]") <= metrics


def test_each_test_and_benchmark_is_there_and_takes_what_it_is_given(guide: Path) -> None:
    text = guide.read_text(encoding="utf-8")
    for path, test in re.findall(r"(?<![\w/])(tests/[\w/.]*\w)(?:::(\w+))?", text):
        assert (ROOT / path).exists(), path
        if test:
            assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), test
    sources = "".join(p.read_text(encoding="utf-8") for p in ROOT.glob("benchmarks/**/*.py"))
    for code in code_of(guide):
        for name, given in re.findall(r"python3? (?:-m )?(benchmarks[\w./]*)([^\n|;&#]*)", code):
            place = ROOT / name.removesuffix(".py").replace(".", "/")
            assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), name
            for option in re.findall(r"(?<=\s)--[a-z][\w-]*", given):
                assert f'"{option}"' in sources, f"{name} takes no {option}"


def test_each_link_leads_to_what_is_there(guide: Path) -> None:
    # MkDocs sees the pages of the site, and this the README and what is only in the checkout too.
    text = guide.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)", text):
        path = guide.parent / target if target else guide
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(path), f"{target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings as GitHub makes them; of twins, the first's."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower().strip() for title in titles)
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in plain}
