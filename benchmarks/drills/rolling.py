"""Scale from one replica to three, update all three one by one, and go back to one, under load.

    python -m benchmarks.drills.rolling [--rate 60] [--calm 5]

Each replica is a process of its own behind HAProxy with the configuration that is shipped. The
exit code is 1 where a single request failed. It needs haproxy.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.arguments import above_zero
from benchmarks.drills.fleet import Balancer, Replica, free_port
from benchmarks.drills.load import Load, summary


def main() -> int:
    """Run the drill; print what was done and what users saw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=above_zero, default=60.0, help="requests a second")
    parser.add_argument("--calm", type=above_zero, default=5.0, help="seconds between two steps")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        return drill(Path(home), options.rate, options.calm)


def drill(home: Path, rate: float, calm: float) -> int:
    """Do the steps; return the exit code."""
    # One more than three: an update starts the new one before it stops the old.
    slots = [Replica(free_port(), home / f"slot-{number}") for number in range(4)]
    balanced = Balancer(home, [slot.port for slot in slots])
    try:
        return _drill(slots, balanced, rate, calm)
    finally:
        for slot in slots:
            slot.kill()


def _drill(slots: list[Replica], balanced: Balancer, rate: float, calm: float) -> int:
    running = [slots[0]]
    slots[0].start()
    with balanced as balancer:
        balancer.wait_ready()
        with Load(balancer.port, rate) as load:
            seen = 0

            def report(step: str) -> None:
                nonlocal seen
                time.sleep(calm)
                answers = load.answers[seen:]
                seen += len(answers)
                print(f"{step:42} {summary(answers)}", flush=True)

            report("one replica")
            for slot in slots[1:3]:
                seconds = slot.start()
                running.append(slot)
                report(f"one more after {seconds:.1f} s: {len(running)}")
            spare = slots[3]
            for number in range(3):
                old = running[number]
                begun = spare.start()
                # A moment for the balancer to see it, as an orchestrator's minReadySeconds.
                time.sleep(1)
                ended = old.stop()
                running[number], spare = spare, old
                report(f"replica {number + 1} updated: +{begun:.1f} s, -{ended:.1f} s")
            while len(running) > 1:
                ended = running.pop().stop()
                report(f"one less after {ended:.1f} s: {len(running)}")
        print(f"{'in all':42} {summary(load.answers)}")
        for slot in running:
            slot.stop()
    return 0 if all(answer.fine for answer in load.answers) else 1


if __name__ == "__main__":
    raise SystemExit(main())
