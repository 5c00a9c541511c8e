"""Large-scale search of Schwenk & Douze 2017 (section 4.3), through the HTTP API of a server.

    interlingua serve --data ./large
    python -m benchmarks.search.large_scale en=corpus.en de=corpus.de --limit 100000

Each file has a sentence a line; the same line in two files is the same sentence. All sentences go
into one corpus as a stream. Then sentences drawn at random are looked for in every language, and
two things are printed: how often the nearest sentence of the other language is not the translation
(the paper's similarity error, algorithm 1, over all sentences of the corpus), and the n-best lists
of a few, in their own language and the others, as in the paper's tables.
"""

from __future__ import annotations

import argparse
import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.arguments import existing_file, whole_number

ASKED_AT_ONCE = 64
Hits = list[dict[str, object]]


class Client:
    """The few calls that are needed, with the standard library alone.

    Args:
        url: Of the server.
        corpus: Made anew; it must not be there.
    """

    def __init__(self, url: str, corpus: str) -> None:
        self._url = url.rstrip("/")
        self._corpus = corpus

    def call(
        self,
        method: str,
        path: str,
        data: bytes | Iterable[bytes],
        kind: str = "application/json",
    ) -> object:
        """Return the answer's JSON; a refusal, or nobody at the address, ends the benchmark."""
        request = urllib.request.Request(
            self._url + path, data=data, method=method, headers={"content-type": kind}
        )
        try:
            with urllib.request.urlopen(request) as response:
                content = response.read()
        except urllib.error.HTTPError as error:
            with error:
                said = error.read().decode(errors="replace")
            raise SystemExit(f"{method} {path} answered {error.code}: {said}") from error
        except urllib.error.URLError as error:
            raise SystemExit(
                f"nobody answers at {self._url} ({error.reason}); start one: interlingua serve"
            ) from error
        return json.loads(content) if content else None

    def fill(self, lines: Iterator[bytes]) -> object:
        """Make the corpus and put the documents of `lines` into it."""
        self.call("PUT", f"/corpora/{self._corpus}", b"{}")
        path = f"/corpora/{self._corpus}/documents"
        return self.call("POST", path, lines, kind="application/x-ndjson")

    def nearest(self, ids: Sequence[str], language: str, k: int) -> list[Hits]:
        """Return the neighbours of documents in one language, their own selves left out."""
        body = {"corpus": self._corpus, "ids": list(ids), "k": k, "languages": [language]}
        answer = self.call("POST", "/similar", json.dumps(body).encode())
        assert isinstance(answer, list)
        return answer


def documents(files: dict[str, Path], limit: int) -> Iterator[bytes]:
    """Yield the sentences as JSON lines, ids `LINE-LANGUAGE`."""
    for language, path in files.items():
        with path.open(encoding="utf-8") as file:
            for number, line in zip(range(limit), file, strict=False):
                if line.strip():
                    record = {"id": f"{number}-{language}", "text": line.strip(),
                              "language": language}  # fmt: skip
                    yield json.dumps(record).encode() + b"\n"


def lines_of_all(files: dict[str, Path], limit: int) -> list[int]:
    """Return the numbers of the lines that every file has, and none has empty."""
    there: set[int] | None = None
    for path in files.values():
        with path.open(encoding="utf-8") as file:
            own = {n for n, line in zip(range(limit), file, strict=False) if line.strip()}
        there = own if there is None else there & own
    return sorted(there or ())


def similarity_error(
    client: Client, numbers: Sequence[int], source: str, target: str
) -> tuple[float, float]:
    """Return the share of `numbers` whose nearest in `target` is another line, and queries/s."""
    wrong = 0
    began = time.perf_counter()
    for start in range(0, len(numbers), ASKED_AT_ONCE):
        part = numbers[start : start + ASKED_AT_ONCE]
        rows = client.nearest([f"{number}-{source}" for number in part], target, 1)
        for number, hits in zip(part, rows, strict=True):
            wrong += not hits or hits[0]["id"] != f"{number}-{target}"
    return wrong / len(numbers), len(numbers) / (time.perf_counter() - began)


def named_file(text: str) -> tuple[str, Path]:
    """Return language and path of an argument `de=FILE`."""
    language, between, path = text.partition("=")
    if not language or not between:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form LANGUAGE=FILE")
    return language, existing_file(path)


def main() -> None:
    """Fill, measure and show."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=named_file, metavar="LANGUAGE=FILE")
    parser.add_argument("--url", default="http://localhost:8000")
    parser.add_argument("--corpus", default="large-scale")
    parser.add_argument("--limit", type=whole_number, default=100_000, help="lines of each file")
    parser.add_argument("--queries", type=whole_number, default=1000)
    parser.add_argument("--examples", type=int, default=3)
    parser.add_argument("-k", type=whole_number, default=5)
    arguments = parser.parse_args()
    files = dict(arguments.files)
    lines = lines_of_all(files, arguments.limit)
    if not lines:
        parser.error("no line is in all of the files")
    client = Client(arguments.url, arguments.corpus)
    began = time.perf_counter()
    counts = client.fill(documents(files, arguments.limit))
    print(f"stored in {time.perf_counter() - began:.1f} s: {counts}")
    numbers = random.Random(0).sample(lines, min(arguments.queries, len(lines)))
    for source in files:
        for target in files:
            if source != target:
                error, rate = similarity_error(client, numbers, source, target)
                print(f"{source} -> {target}  error {error:6.2%}  {rate:,.0f} queries a second")
    for number in numbers[: arguments.examples]:
        for source in files:
            for target in files:
                (hits,) = client.nearest([f"{number}-{source}"], target, arguments.k)
                print(f"\n{number}-{source} in {target}:")
                for hit in hits:
                    print(f"  {hit['score']:.3f}  {hit['text']}")


if __name__ == "__main__":
    main()
