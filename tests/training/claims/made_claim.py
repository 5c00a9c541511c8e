"""A claim that trains in seconds: a system at scale `smoke` in place of `small`."""

from __future__ import annotations

from training.claims.claim import Claim, Part
from training.claims.quantities import Quantity
from training.claims.trained import System

TEXT = (
    "sources=template_sentences",
    "held_out_source=template_sentences",
    "held_out_first=224",
    "least=1",
    "noise=10",
    "noise_pool=none",
    "batch=32",
    "log_every=8",
)
LONG = System("bicvm", (*TEXT, "iterations=4"))
SHORT = System("bicvm", (*TEXT, "iterations=1"))
SEARCH = Quantity(
    name="search error",
    protocol="search",
    assignments=("source=template_sentences", "rows=224,999"),
    better="lower",
)


def made_claim(**changes: object) -> Claim:
    """Return the claim that four rounds beat one, with `changes`."""
    given: dict[str, object] = {
        "id": "X1",
        "paper": "Nobody 2000",
        "says": "Four rounds beat one.",
        "figures": "1 against 2",
        "where": "Table 1",
        "data": "templates",
        "systems": {"long": LONG, "short": SHORT},
        "parts": (Part(says="search", quantity=SEARCH, first="long", second="short"),),
        "seeds": (0, 1),
        **changes,
    }
    return Claim(**given)  # type: ignore[arg-type]
