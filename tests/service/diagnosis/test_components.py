from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from service.cli import main
from service.diagnosis.components import (
    DISTRIBUTION,
    Component,
    bill_of_materials,
    components,
    normalised,
)

# Word by word, since some join several by AND. MPL-2.0 asks for its own files alone.
PERMISSIVE = re.compile(
    r"(0BSD|MIT|MIT License|BSD|(3-Clause )?BSD( License)?|BSD-[23]-Clause|Apache-2\.0|"
    r"Apache Software License|Apache License,? (Version )?2\.0|PSF-2\.0|Zlib|CC0-1\.0|ISC|"
    r"Python Software Foundation License|ISC License \(ISCL\)|MPL-2\.0|"
    r"Mozilla Public License 2\.0 \(MPL 2\.0\))"
)


@pytest.fixture(scope="module")
def parts() -> list[Component]:
    return components()


def test_it_names_what_the_service_needs(parts: list[Component]) -> None:
    names = {normalised(part.name) for part in parts}
    assert {DISTRIBUTION, "fastapi", "starlette", "numpy", "onnxruntime", "pydantic-core"} <= names
    assert not {"torch", "pytest", "mypy"} & names, "what serving does not need is not of it"


def test_every_licence_is_permissive(parts: list[Component]) -> None:
    wrong = {}
    for part in parts:
        words = re.split(r" AND | OR ", re.sub(r"[()](?=\w|$)|(?<=\w)\)", "", part.licence))
        if not all(PERMISSIVE.fullmatch(word.strip()) for word in words):
            wrong[part.name] = part.licence
    assert wrong == {}, "a licence that was not looked at: add it, or take another package"


def test_a_copyleft_licence_would_be_seen() -> None:
    assert not PERMISSIVE.fullmatch("GPL-3.0-only")
    assert not PERMISSIVE.fullmatch("LGPL-2.1")
    assert not PERMISSIVE.fullmatch("")


def test_the_bill_hangs_together(parts: list[Component]) -> None:
    bill = json.loads(json.dumps(bill_of_materials(parts)))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["component"]["name"] == DISTRIBUTION
    known = {entry["bom-ref"] for entry in bill["components"]}
    known.add(bill["metadata"]["component"]["bom-ref"])
    assert len(known) == len(parts)
    for entry in bill["dependencies"]:
        assert entry["ref"] in known
        assert set(entry["dependsOn"]) <= known


def test_the_command_prints_both() -> None:
    done = CliRunner().invoke(main, ["sbom"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["bomFormat"] == "CycloneDX"
    done = CliRunner().invoke(main, ["sbom", "--licences"])
    assert "orjson" in done.output
