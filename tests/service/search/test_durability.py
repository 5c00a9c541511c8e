"""What was acknowledged is there after kill -9."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from service.search.corpora import Corpora
from service.search.corpus import Corpus
from service.search.document import Document
from tests.service.search.samples import DIMENSION

ROUNDS = 5
BATCH = 20

WRITER = """
import sys
from pathlib import Path

from service.search.corpora import Corpora
from tests.service.search.test_durability import BATCH, batch_of

import service.search.corpus
service.search.corpus.SAVE_ROWS = 100  # so that kills meet the saving of the index too

corpus = Corpora(Path(sys.argv[1])).get("demo")
number = int(sys.argv[2])
print("begun", flush=True)
while True:
    number += 1
    documents, vectors = batch_of(number)
    corpus.upsert(documents, vectors)
    print("upserted", number, flush=True)
    if number % 3 == 0:
        corpus.delete([document.id for document in batch_of(number - 1)[0][:BATCH]])
        print("deleted", number - 1, flush=True)
"""


def vector_of(number: int) -> np.typing.NDArray[np.float32]:
    return np.random.default_rng(number).standard_normal(DIMENSION).astype(np.float32)


def batch_of(number: int) -> tuple[list[Document], np.typing.NDArray[np.float32]]:
    """The documents of one write: ids of its own, and one id that all writes share."""
    documents = [
        Document(f"{number}-{i}", f"batch {number}", None, {"batch": number}) for i in range(BATCH)
    ]
    documents.append(Document("last", f"batch {number}"))
    return documents, np.repeat(vector_of(number)[None], BATCH + 1, axis=0)


def run_until_killed(directory: Path, first: int, seconds: float) -> list[tuple[str, int]]:
    """Let a process write for `seconds`, kill it, and return what it had acknowledged."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(directory), str(first)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(seconds)
    process.kill()
    # A line that the kill cut was not received by anybody.
    lines = [
        line.split() for line in process.stdout.read().splitlines(keepends=True) if "\n" in line
    ]
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL
    return [(verb, int(number)) for verb, number in lines]


def check(corpus: Corpus, expected: set[int], in_doubt: set[int]) -> set[int]:
    """Check that the corpus holds the batches `expected`, give or take those `in_doubt`, whole."""
    count = corpus.info().documents
    found = {}
    for batch in sorted(expected | in_doubt):
        (hits,) = corpus.search(vector_of(batch)[None], k=count, filter={"batch": batch})
        assert len(hits) in (0, BATCH), f"batch {batch} is there by half"
        assert all(hit.text == f"batch {batch}" for hit in hits)
        if hits:
            assert hits[0].score == pytest.approx(1)
            found[batch] = hits
    present = set(found)
    assert expected - in_doubt <= present <= expected | in_doubt
    assert count == len(present) * BATCH + 1, "there is more than was ever acknowledged"
    return present


@pytest.mark.slow
def test_no_acknowledged_write_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    chance = random.Random(5)
    corpora = Corpora(tmp_path)
    corpora.create("demo", model="m", space="s", dimension=DIMENSION)
    corpora.close()
    present: set[int] = set()
    number = 0
    for _ in range(ROUNDS):
        done = run_until_killed(tmp_path, number, chance.uniform(0.05, 0.4))
        for verb, batch in done:
            if verb == "upserted":
                present.add(batch)
                number = batch
            else:
                present.discard(batch)
        # The write that ran when the kill came may be there or not, but never by half.
        deleting = bool(done) and done[-1] == ("upserted", number) and number % 3 == 0
        opened = Corpora(tmp_path)
        assert opened.damaged == {}
        present = check(opened.get("demo"), present, {number - 1 if deleting else number + 1})
        number = max(number, *present)
        assert opened.get("demo").get_document("last").text == f"batch {number}"
        opened.close()
    assert number > ROUNDS
