"""All claims, and the order in which they are run."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from service.errors import NotFoundError
from training.claims import chidambaram, hermann, li, schwenk, yu
from training.claims.claim import Claim
from training.claims.judge import is_stale, result_file
from training.store import read_json
from training.tables import format_table

CLAIMS: tuple[Claim, ...] = (
    *hermann.CLAIMS,
    *schwenk.CLAIMS,
    *yu.CLAIMS,
    *chidambaram.CLAIMS,
    *li.CLAIMS,
)
"""By paper."""

_FIRST = (
    *("H1", "H2", "H3", "H4", "S1", "S4", "S6", "L6", "L3", "L4"),
    *("C1", "C2", "C5", "L1", "L7", "Y1", "Y2", "Y3"),
)
"""What the papers are known for; the others follow by paper."""


def find_claim(identity: str) -> Claim:
    """Return the claim with that ID, in whatever case.

    Raises:
        NotFoundError: There is none.
    """
    known = {claim.id: claim for claim in CLAIMS}
    found = known.get(identity.upper())
    if found is None:
        near = difflib.get_close_matches(identity.upper(), known, n=1)
        raise NotFoundError(
            f"There is no claim of that ID; there are {', '.join(known)}.",
            field="claim",
            given=identity,
            remedy=f"Did you mean {near[0]}?" if near else None,
        )
    return found


def in_order() -> list[Claim]:
    """Return all claims, those first that are to be run first."""
    first = [find_claim(identity) for identity in _FIRST]
    return first + [claim for claim in CLAIMS if claim not in first]


def ledger_table(results: Path, claims: Sequence[Claim] = CLAIMS) -> str:
    """Return the claims with their verdicts as text."""
    rows = []
    for claim in claims:
        path = result_file(results, claim.id)
        verdict = str(read_json(path)["verdict"]) if path.exists() else "not run"
        stale = " (stale)" if path.exists() and is_stale(claim, results) else ""
        rows.append([claim.id, claim.paper, verdict + stale, claim.says])
    return format_table(["claim", "paper", "verdict", "says"], rows, text=(1, 2, 3))
