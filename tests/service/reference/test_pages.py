"""That nothing is undocumented, and that what is in docs/reference is what the code says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from service.reference.__main__ import PAGES
from service.reference.api import api_page
from service.reference.commands import commands_page
from service.reference.metrics import metrics_page
from service.reference.settings import settings_page
from service.settings import Settings
from service.telemetry.metrics import Metrics

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"

pytestmark = pytest.mark.skipif(not REFERENCE.exists(), reason="no docs in this installation")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # In a process of its own: click keeps the help option that a command was first shown with, and
    # other tests show commands outside their group.
    directory = tmp_path_factory.mktemp("reference")
    subprocess.run([sys.executable, "-m", "service.reference", str(directory)], check=True)
    return directory


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_up_to_date(name: str, written: Path) -> None:
    made = (written / name).read_text(encoding="utf-8")
    assert (REFERENCE / name).read_text(encoding="utf-8") == made, "run: make reference"


def test_every_setting_is_described() -> None:
    assert all(field.description for field in Settings.model_fields.values())
    page = settings_page()
    assert all(f"`INTERLINGUA_{name.upper()}`" in page for name in Settings.model_fields)


def test_every_metric_is_described() -> None:
    page = metrics_page()
    for family in Metrics().registry.collect():
        if family.name.startswith("interlingua_"):
            assert f"`{family.name}" in page
            assert family.documentation
    assert "`interlingua_requests_total` | counter | `route`, `status`" in page


def test_every_command_is_there() -> None:
    page = commands_page()
    recipe = page.partition("\n## interlingua train RECIPE\n")[2].partition("\n## ")[0]
    assert all(option in recipe for option in ("--scale", "--data", "--out", "--patience"))
    for command in ("serve", "embed", "doctor", "bench", "completion", "models", "train head"):
        assert f"## interlingua {command}\n" in page


def test_a_field_that_is_an_object_is_followed_by_its_own_with_their_defaults() -> None:
    rows = api_page().splitlines()
    words = "| `passages.words` | integer | Of the longest passage; 128 if left out |"
    assert rows.index(words) > next(n for n, row in enumerate(rows) if row.startswith("| `passag"))
    assert any(row.startswith("| `corpus.label_field` * | string | ") for row in rows)


def test_every_field_of_a_body_says_what_it_is() -> None:
    rows = [line.split(" | ") for line in api_page().splitlines() if line.startswith("| `")]
    silent = [row for row in rows if not row[2].strip(" |") and "(path)" not in row[1]]
    assert silent == []


def test_examples_have_names_where_the_address_has_braces() -> None:
    # curl reads braces as a pattern.
    addresses = [line for line in api_page().splitlines() if line.startswith("curl ")]
    assert not [line for line in addresses if "{" in line]
    assert any("/corpora/notes/documents" in line for line in addresses)
