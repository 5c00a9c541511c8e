"""Kill a process with SIGKILL while it writes, deletes and searches; count what was lost.

    python -m benchmarks.search.kills --rounds 100

Each round starts a process with several writers and searchers on one corpus, lets it run for a
random time (every other round until it has written and searched at least, however busy the machine
is), kills it, opens the corpus again and compares it with what the process had
acknowledged on its standard output. A test of 10 rounds is part of the test suite.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

import service.search.live_index
from benchmarks.arguments import whole_number
from service.search.corpora import Corpora
from service.search.corpus import Corpus
from service.search.document import Document

NAME = "killed"
DIMENSION = 16
WRITERS = 3
SEARCHERS = 2
BATCH = 20
DELETES_EVERY = 4
SAVED_ROWS = 200
"""So few changes are between two saves of the index, that kills meet the saving too."""

REPOSITORY = Path(__file__).parents[2]


def deletes(operation: int) -> bool:
    """Whether a writer's `operation`, counted from 1, deletes the batch before; else it upserts."""
    return operation % DELETES_EVERY == 0


def batch_name(writer: int, operation: int) -> str:
    """The batch that an upsert writes."""
    return f"{writer}-{operation}"


def vector_of(writer: int, operation: int) -> npt.NDArray[np.float32]:
    """The vector of all documents of a batch."""
    rng = np.random.default_rng([writer, operation])
    vector = rng.standard_normal(DIMENSION).astype(np.float32)
    return vector / np.linalg.norm(vector)


def documents_of(writer: int, operation: int) -> list[Document]:
    """A batch: documents of its own, and one that each batch of the writer replaces."""
    batch = batch_name(writer, operation)
    own = [Document(f"{batch}-{i}", batch, None, {"batch": batch}) for i in range(BATCH)]
    return [*own, Document(f"last-{writer}", batch)]


# The process that is killed.


def write_for_ever(corpus: Corpus, writer: int, operation: int) -> None:
    """Do the writer's operations from `operation` on; acknowledge each when it returned."""
    while True:
        if deletes(operation):
            corpus.delete([d.id for d in documents_of(writer, operation - 1)[:BATCH]])
        else:
            documents = documents_of(writer, operation)
            vectors = np.repeat(vector_of(writer, operation)[None], len(documents), axis=0)
            corpus.upsert(documents, vectors)
        say({"writer": writer, "done": operation})
        operation += 1


def search_for_ever(corpus: Corpus, seed: int) -> None:
    """Search; say where a batch was seen by half."""
    rng = np.random.default_rng(seed)
    while True:
        query = rng.standard_normal((1, DIMENSION)).astype(np.float32)
        (hits,) = corpus.search(query, k=1000, filter={"not": {"batch": None}})
        seen: dict[str, int] = {}
        for hit in hits:
            seen[hit.text] = seen.get(hit.text, 0) + 1
        # All of a batch have one vector; the last within reach may be cut by k.
        last = hits[-1].text if len(hits) == 1000 else None
        half = {batch: n for batch, n in seen.items() if n != BATCH and batch != last}
        say({"half": half} if half else {"searched": len(hits)})


def say(what: object) -> None:
    """Write one line in one system call, so that a kill cuts none of several threads' lines."""
    os.write(1, json.dumps(what).encode() + b"\n")


def be_killed(directory: Path, operations: list[int]) -> None:
    """Work on the corpus until the end comes."""
    service.search.live_index.SAVE_ROWS = SAVED_ROWS
    corpus = Corpora(directory).get(NAME)
    for writer, operation in enumerate(operations):
        threading.Thread(target=write_for_ever, args=(corpus, writer, operation)).start()
    for seed in range(SEARCHERS):
        threading.Thread(target=search_for_ever, args=(corpus, seed)).start()
    say({"begun": True})


# The process that kills.


@dataclass
class Tally:
    """What all rounds saw."""

    rounds: int = 0
    acknowledged: int = 0
    searches: int = 0
    in_doubt_found: int = 0
    failures: list[str] = field(default_factory=list)
    opening_seconds: list[float] = field(default_factory=list)


class Killer:
    """Kills processes that work on one directory.

    Args:
        directory: Of corpora; made.
        seed: Of the times of the kills.
    """

    def __init__(self, directory: Path, *, seed: int = 0) -> None:
        self._directory = directory
        self._chance = random.Random(seed)
        self._done = [0] * WRITERS  # the last operation of each writer that is known to be done
        self._present: list[set[int]] = [set() for _ in range(WRITERS)]
        self.tally = Tally()
        corpora = Corpora(directory)
        corpora.create(NAME, model="m", space="s", dimension=DIMENSION)
        corpora.close()

    def round(self) -> None:
        """Start a process, kill it, open the corpus and check it."""
        self.tally.rounds += 1
        acknowledged = self._run_until_killed(
            self._chance.uniform(0.02, 0.6), at_work=self.tally.rounds % 2 == 0
        )
        for writer, operation in acknowledged:
            self._apply(writer, operation)
            self.tally.acknowledged += 1
        began = time.monotonic()
        corpora = Corpora(self._directory)
        self.tally.opening_seconds.append(time.monotonic() - began)
        if corpora.damaged:
            self._fail(f"does not open: {corpora.damaged}")
            return
        try:
            self._check(corpora.get(NAME))
        finally:
            corpora.close()

    def _run_until_killed(self, seconds: float, *, at_work: bool) -> list[tuple[int, int]]:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.search.kills", "--be-killed", str(self._directory),
             *(str(done + 1) for done in self._done)],
            stdout=subprocess.PIPE, cwd=REPOSITORY, env=os.environ | {"OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        assert process.stdout is not None
        # Read while it runs: a full pipe would hold the process up, and the kill would meet that.
        lines = [process.stdout.readline()]
        reader = threading.Thread(target=lambda: lines.extend(process.stdout or ()))
        reader.start()
        time.sleep(seconds)
        while at_work and process.poll() is None and not _is_at_work(lines):
            time.sleep(0.01)
        process.kill()
        process.wait()
        reader.join()
        process.stdout.close()
        acknowledged = []
        for line in lines:
            said = json.loads(line)
            if "done" in said:
                acknowledged.append((said["writer"], said["done"]))
            elif "half" in said:
                self._fail(f"a search saw batches by half: {said['half']}")
            elif "searched" in said:
                self.tally.searches += 1
        return acknowledged

    def _apply(self, writer: int, operation: int) -> None:
        self._done[writer] = operation
        if deletes(operation):
            self._present[writer].discard(operation - 1)
        else:
            self._present[writer].add(operation)

    def _check(self, corpus: Corpus) -> None:
        total = 0
        for writer in range(WRITERS):
            doubtful = self._done[writer] + 1  # ran when the kill came: all of it or nothing
            touched = doubtful - 1 if deletes(doubtful) else doubtful
            for operation in sorted(self._present[writer] | {touched}):
                found = self._batch(corpus, writer, operation)
                total += found
                if found not in (0, BATCH):
                    self._fail(f"batch {writer}-{operation} is there by half: {found}")
                if operation != touched and not found:
                    self._fail(f"batch {writer}-{operation} was acknowledged and is lost")
            self._settle_doubt(corpus, writer, doubtful, touched)
        last = sum(1 for done in self._done if done)
        if corpus.info().documents != total + last:
            self._fail(f"{corpus.info().documents} documents, {total} + {last} expected")

    def _settle_doubt(self, corpus: Corpus, writer: int, doubtful: int, touched: int) -> None:
        there = self._batch(corpus, writer, touched) == BATCH
        happened = there is not deletes(doubtful)
        if happened:
            self._apply(writer, doubtful)
            self.tally.in_doubt_found += 1
        upserts = [n for n in range(1, self._done[writer] + 1) if not deletes(n)]
        if upserts:
            text = corpus.get_document(f"last-{writer}").text
            if text != batch_name(writer, upserts[-1]):
                self._fail(f"last-{writer} is of batch {text}, not {upserts[-1]}")

    def _batch(self, corpus: Corpus, writer: int, operation: int) -> int:
        """Documents of a batch that its own vector finds, without any filter to lead there."""
        (hits,) = corpus.search(vector_of(writer, operation)[None], k=BATCH + 1, min_score=0.9999)
        return sum(
            hit.text == batch_name(writer, operation) and hit.id[:4] != "last" for hit in hits
        )

    def _fail(self, what: str) -> None:
        self.tally.failures.append(f"round {self.tally.rounds}: {what}")


def _is_at_work(lines: Sequence[bytes]) -> bool:
    """Whether a process has told of a write and of a search."""
    return all(any(what in line for line in lines) for what in (b'"done"', b'"searched"'))


def main() -> None:
    """Kill as often as is asked for and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=whole_number, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--be-killed", nargs="+", metavar="ARGUMENT", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.be_killed:
        directory, *operations = arguments.be_killed
        be_killed(Path(directory), list(map(int, operations)))
        return
    with tempfile.TemporaryDirectory() as directory:
        killer = Killer(Path(directory), seed=arguments.seed)
        for _ in range(arguments.rounds):
            killer.round()
            print(f"\r{killer.tally.rounds} kills", end="", file=sys.stderr, flush=True)
    tally = killer.tally
    opening = max(tally.opening_seconds)
    print(
        f"\n{tally.rounds} kills, {tally.acknowledged} acknowledged writes, "
        f"{tally.searches} searches meanwhile; {tally.in_doubt_found} writes were whole though not "
        f"yet acknowledged; slowest opening {opening:.2f} s; {len(tally.failures)} failures"
    )
    for failure in tally.failures:
        print(failure)
    sys.exit(1 if tally.failures else 0)


if __name__ == "__main__":
    main()
