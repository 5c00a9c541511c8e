"""Break things under load, one after the other: what users see, which alert fires, what heals it.

    python -m benchmarks.drills.faults [--rate 20] [--only NAME ...]

Faults: replica (kill -9 of one of two), engine (the vector engine stops and comes back), disk (the
data volume runs full), key (one is revoked while a client still uses it). A real Prometheus scrapes
the replicas and evaluates the shipped rules, with their own waiting times. It needs haproxy and
prometheus, the extra milvus for the engine, and root for the small volume that is filled. The exit
code is 1 where an expected alert did not fire or something did not heal.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.arguments import above_zero
from benchmarks.drills.engine import Engine
from benchmarks.drills.fleet import Balancer, Replica, ask, free_port
from benchmarks.drills.load import Load, summary
from benchmarks.drills.volume import SmallVolume
from benchmarks.drills.watch import Watch


def main() -> int:
    """Run the faults; print what was seen of each."""
    faults = {
        "replica": kill_a_replica,
        "engine": stop_the_engine,
        "disk": fill_the_disk,
        "key": revoke_a_key,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=above_zero, default=20.0, help="requests a second")
    parser.add_argument("--only", nargs="+", choices=faults, default=list(faults))
    options = parser.parse_args()
    fine = True
    for name in options.only:
        with tempfile.TemporaryDirectory() as home:
            fine = faults[name](Path(home), options.rate) and fine
    return 0 if fine else 1


class Story:
    """Tells what happens as it happens, and what users saw since the last line."""

    def __init__(self, title: str, load: Load) -> None:
        print(f"\n{title}", flush=True)
        self._load = load
        self._told = len(load.answers)
        self._began = time.perf_counter()

    def tell(self, what: str) -> None:
        """Print one step."""
        answers = self._load.answers[self._told :]
        self._told += len(answers)
        clock = time.perf_counter() - self._began
        print(f"  {clock:6.1f} s  {what}\n            {summary(answers)}", flush=True)


def kill_a_replica(home: Path, rate: float) -> bool:
    """Kill one of two replicas, and start it again when the alert has fired."""
    replicas = [Replica(free_port(), home / name) for name in ("a", "b")]
    ports = [replica.port for replica in replicas]
    try:
        for replica in replicas:
            replica.start()
        with Balancer(home, ports) as balancer, Watch(home, ports) as watch:
            balancer.wait_ready()
            with Load(balancer.port, rate) as load:
                story = Story("kill -9 of one of two replicas", load)
                time.sleep(5)
                story.tell("both run")
                replicas[0].kill()
                fired = watch.wait_for("InterlinguaReplicaDown", firing=True, seconds=150)
                story.tell(f"killed; InterlinguaReplicaDown fired after {fired:.0f} s")
                replicas[0].start()
                healed = watch.wait_for("InterlinguaReplicaDown", firing=False, seconds=60)
                story.tell(f"started again; the alert was over after {healed:.0f} s")
            return all(answer.fine for answer in load.answers)
    finally:
        for replica in replicas:
            replica.stop()


def stop_the_engine(home: Path, rate: float) -> bool:
    """Stop the vector engine that two replicas share, and start it again when the alert fired."""
    with Engine(home / "engine") as engine:
        settings = {"vector_engine": engine.url}
        replicas = [Replica(free_port(), home / name, **settings) for name in ("a", "b")]
        ports = [replica.port for replica in replicas]
        try:
            for replica in replicas:
                replica.start()
            with Balancer(home, ports) as balancer, Watch(home, ports) as watch:
                balancer.wait_ready()
                with Load(balancer.port, rate) as load:
                    return _stop(engine, load, watch)
        finally:
            for replica in replicas:
                replica.stop()


def _stop(engine: Engine, load: Load, watch: Watch) -> bool:
    story = Story("the vector engine of two replicas stops", load)
    time.sleep(5)
    story.tell("all run")
    engine.stop()
    fired = watch.wait_for("InterlinguaStorageFailing", firing=True, seconds=120)
    story.tell(f"stopped; InterlinguaStorageFailing fired after {fired:.0f} s")
    engine.start()
    begun = time.perf_counter()
    while not all(answer.fine for answer in load.answers[-30:]):
        if time.perf_counter() - begun > 90:
            story.tell("started again, and not healed within 90 s")
            return False
        time.sleep(0.5)
    story.tell(
        f"started again, no restart of ours; healed after {time.perf_counter() - begun:.0f} s"
    )
    settled = len(load.answers)
    time.sleep(5)
    story.tell("all run")
    return all(answer.fine for answer in load.answers[settled:])


def fill_the_disk(home: Path, rate: float) -> bool:
    """Fill the data volume, write into it, and make room again."""
    with SmallVolume(home / "volume", mebibytes=64) as volume:
        replica = Replica(free_port(), volume / "data")
        try:
            replica.start()
            return _fill(home, rate, replica, volume)
        finally:
            replica.stop()


def _fill(home: Path, rate: float, replica: Replica, volume: Path) -> bool:
    with Watch(home, [replica.port]) as watch, Load(replica.port, rate) as load:
        story = Story("the data volume runs full", load)
        ask(replica.port, "/corpora/drill", method="PUT", body="{}")
        status, _ = write(replica.port, "before")
        story.tell(f"a write answers {status}")
        filler = volume / "filler"
        fill(filler)
        status, answer = write(replica.port, "during")
        said = json.loads(answer).get("detail", "") if answer.startswith("{") else answer
        story.tell(f"full; a write answers {status}: {said[:90]}")
        refused = status == 503

        def keep_writing() -> None:
            write(replica.port, "during")

        fired = watch.wait_for(
            "InterlinguaStorageFailing", firing=True, seconds=90, meanwhile=keep_writing
        )
        watch.wait_for("InterlinguaDiskFull", firing=True, seconds=60)
        story.tell(f"InterlinguaDiskFull and, after {fired:.0f} s, InterlinguaStorageFailing fired")
        filler.unlink()
        status, _ = write(replica.port, "after")
        story.tell(f"room made, no restart; a write answers {status}")
        kept = ask(replica.port, "/corpora/drill/documents/before")[0]
        lost = ask(replica.port, "/corpora/drill/documents/during")[0]
        healed = watch.wait_for("InterlinguaDiskFull", firing=False, seconds=60)
        story.tell(
            f"acknowledged document: {kept}, refused one: {lost}; "
            f"InterlinguaDiskFull over after {healed:.0f} s"
        )
    searches = all(answer.fine for answer in load.answers)
    return refused and status == 200 and (kept, lost) == (200, 404) and searches


def revoke_a_key(home: Path, rate: float) -> bool:
    """Take a key out of the file that the service watches, and give the client its successor."""
    keys = home / "keys"
    keys.write_text("old\n")
    replica = Replica(free_port(), home / "data", api_keys_file=str(keys))
    try:
        replica.start()
        with Watch(home, [replica.port]) as watch, Load(replica.port, rate, key="old") as load:
            story = Story("a key is revoked while a client still uses it", load)
            time.sleep(5)
            story.tell("the client has the old key")
            replace(keys, "new\n")
            fired = watch.wait_for("InterlinguaUnknownKeys", firing=True, seconds=180)
            story.tell(f"revoked, no restart; InterlinguaUnknownKeys fired after {fired:.0f} s")
            load.key = "new"
            time.sleep(1)
            begun = len(load.answers)
            time.sleep(5)
            story.tell("the client has the new key")
            return all(answer.fine for answer in load.answers[begun:])
    finally:
        replica.stop()


def write(port: int, id: str) -> tuple[int, str]:
    """Upsert a document of a size that needs room."""
    document = {"id": id, "text": "A sentence that is stored.", "metadata": {"note": "x" * 60_000}}
    return ask(
        port,
        "/corpora/drill/documents",
        method="POST",
        body=json.dumps({"documents": [document]}),
    )


def fill(file: Path) -> None:
    """Write to `file` until the volume has no room left."""
    with file.open("wb") as stream:
        for size in (1 << 20, 1 << 12, 1):
            until_full(stream.fileno(), b"\0" * size)


def until_full(descriptor: int, block: bytes) -> None:
    """Write `block` again and again until the file system refuses."""
    write_block: Callable[[int, bytes], int] = os.write
    try:
        while write_block(descriptor, block):
            pass
    except OSError:
        return


def replace(file: Path, text: str) -> None:
    """Exchange a file in one step."""
    other = file.with_name(file.name + ".new")
    other.write_text(text)
    other.replace(file)


if __name__ == "__main__":
    raise SystemExit(main())
