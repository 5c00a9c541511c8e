"""Faults in random order under traffic, and whether anything that was acknowledged is lost.

    python -m benchmarks.drills.chaos [--faults 200] [--seed 0]

A server embeds, searches, writes and deletes while faults come one after another: inside its
process (`injected.py`), to its process (killed, frozen, restarted), to its files (indexes, or a
model, damaged or gone) and from clients (slow, rude, too many). After each, requests must be
answered again without a hand; after all of them every document that was acknowledged must be there
as it was written, every deleted one gone, and each found by a search.
"""

from __future__ import annotations

import argparse
import collections
import random
import shutil
import tempfile
import time
from pathlib import Path

from benchmarks.arguments import whole_number
from benchmarks.drills.chaotic import OUTSIDE, Victim
from benchmarks.drills.fleet import free_port
from benchmarks.drills.injected import INSIDE
from benchmarks.drills.ledger import Ledger
from benchmarks.models import FAST
from benchmarks.serving import machine

INSIDE_SECONDS = 0.3
HEALS_WITHIN_SECONDS = 20.0
DEFINED = {200, 204, 404, 429, 503, 504}
"""And 500 where the model failed, and 0 where the connection broke."""


def main() -> None:
    """Break a server, count, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=whole_number, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"machine: {machine()}")
    chance = random.Random(options.seed)
    kinds = [*INSIDE, *OUTSIDE]
    order = [kinds[n % len(kinds)] for n in range(options.faults)]
    chance.shuffle(order)
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        model = home / "model"
        shutil.copytree(FAST, model)
        victim = Victim(free_port(), home, model)
        try:
            victim.start()
            with Ledger(victim.port) as ledger:
                slowest = run(order, victim, ledger, chance)
            report(ledger, victim, order, slowest)
            victim.stop()
        finally:
            victim.kill()


def run(order: list[str], victim: Victim, ledger: Ledger, chance: random.Random) -> float:
    """Inject all faults; return the longest time that a recovery took."""
    slowest = 0.0
    for number, kind in enumerate(order, start=1):
        if kind in INSIDE:
            victim.inject(kind, INSIDE_SECONDS)
        else:
            OUTSIDE[kind](victim, chance)
        began = time.monotonic()
        while not ledger.works():
            if time.monotonic() - began > HEALS_WITHIN_SECONDS:
                raise SystemExit(f"fault {number} ({kind}) was not recovered from: {victim.said()}")
            time.sleep(0.05)
        slowest = max(slowest, time.monotonic() - began)
        if number % 20 == 0:
            print(f"{number:4} faults; {ledger.summary()}", flush=True)
    return slowest


def report(ledger: Ledger, victim: Victim, order: list[str], slowest: float) -> None:
    """Print what became of it; end with 1 where something is wrong."""
    counts = collections.Counter(order)
    print(f"{len(order)} faults of {len(counts)} kinds: {', '.join(sorted(counts))}")
    print(f"answers: {ledger.summary()}")
    print(f"slowest recovery: {slowest:.1f} s, none by hand")
    lost, undead, unfound = ledger.compare()
    print(f"acknowledged writes: {ledger.acknowledged}; documents there: {len(ledger.expected)}; "
          f"lost or changed: {len(lost)}; deleted and back: {len(undead)}; "
          f"not found by a search: {len(unfound)}")  # fmt: skip
    undefined = {s: n for s, n in ledger.outcomes.items() if s not in {*DEFINED, 0, 500}}
    traces = victim.log.read_text().count("Traceback")
    print(f"undefined answers: {undefined or 'none'}; of 500 not the model's: {ledger.internal}; "
          f"tracebacks in the log: {traces}")  # fmt: skip
    if lost or undead or unfound or undefined or ledger.internal or traces:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
