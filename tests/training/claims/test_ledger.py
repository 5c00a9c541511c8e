"""The ledger: every claim is an entry that can be run, and the page is up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.errors import NotFoundError
from training.claims.command import list_claims
from training.claims.ledger import CLAIMS, find_claim, in_order
from training.claims.report import report
from training.claims.verdict import all_of
from training.evaluation.protocols import make_protocol
from training.recipe import change, find_recipe

DOCS = Path(__file__).parents[3] / "docs"
RESULTS = DOCS / "reproduction"
IDS = {
    *(f"H{i}" for i in range(1, 5)),
    *(f"S{i}" for i in range(1, 10)),
    *(f"Y{i}" for i in range(1, 7)),
    *(f"C{i}" for i in range(1, 9)),
    *(f"L{i}" for i in range(1, 10)),
}


def test_every_claim_has_one_entry() -> None:
    assert [claim.id for claim in CLAIMS if claim.id not in IDS] == []
    assert {claim.id for claim in CLAIMS} == IDS
    assert len(CLAIMS) == len(IDS)
    assert sorted(claim.id for claim in in_order()) == sorted(IDS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_what_an_entry_names_is_there(claim: object) -> None:
    found = find_claim(claim.id.lower())  # type: ignore[attr-defined]
    assert len(found.seeds) >= 3
    assert found.figures
    assert found.where
    for system in found.systems.values():
        recipe = find_recipe(system.recipe)
        change(recipe.scales["small"], system.assignments)
        change(recipe.scales["paper"], system.paper)
    for part in found.parts:
        for name, _ in part.cells:
            assert name in found.systems
    for _, quantity in found.cells():
        if quantity.protocol not in ("training-speed", "size"):
            make_protocol(quantity.protocol, quantity.assignments)


def test_both_sides_of_a_comparison_see_the_same_text() -> None:
    for claim in CLAIMS:
        for part in claim.parts:
            if part.second is None:
                continue
            sides = [
                dict(a.split("=", 1) for a in claim.systems[n].assignments)
                for n in (part.first, part.second)
            ]
            assert sides[0].get("sources") == sides[1].get("sources"), claim.id
            assert sides[0].get("held_out_first") == sides[1].get("held_out_first"), claim.id


def test_runs_are_shared_and_other_seeds_are_other_runs() -> None:
    runs = {run.key for claim in CLAIMS for run in claim.runs()}
    asked = sum(len(claim.runs()) for claim in CLAIMS)
    assert len(runs) < asked
    claim = find_claim("S1")
    assert len({run.key for run in claim.runs()}) == len(claim.runs())
    # Those that may have a stage in common, of one seed, are not trained side by side.
    first = [run.key for run in find_claim("L1").runs()][:6]
    assert first == [find_claim("L1").systems["cNV"].seeded(seed).key for seed in range(10, 16)]


def test_unknown_claims_are_refused() -> None:
    with pytest.raises(NotFoundError, match="no claim of that ID"):
        find_claim("S10")


def test_the_table_lists_all() -> None:
    table = list_claims(RESULTS)
    assert all(f"\n{identity} " in table for identity in IDS)


def test_the_page_is_what_the_results_say() -> None:
    page = DOCS / "reproduction.md"
    assert page.read_text(encoding="utf-8") == report(RESULTS), (
        "docs/reproduction.md is out of date: interlingua reproduce --report"
    )


def test_results_agree_with_their_parts() -> None:
    from training.store import read_json

    for path in RESULTS.glob("*.json"):
        if path.stem not in IDS:
            continue
        result = read_json(path)
        assert result["verdict"] == all_of([part["verdict"] for part in result["parts"]])
        assert len(result["seeds"]) >= 3
        assert result["machine"]
        assert result["versions"]
