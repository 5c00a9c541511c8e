"""A server of its own, asked over HTTP as anybody would."""

from __future__ import annotations

import argparse
import json
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.arguments import existing_folder, result_file
from benchmarks.models import FAST
from service.classification.example import Example
from training.served import served

_SECONDS = 600.0
_BATCH = 500


class Api:
    """The calls that the measurements need.

    Args:
        url: Of a server.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def fit(
        self, name: str, examples: Sequence[Example], *, options: Mapping[str, object]
    ) -> dict[str, object]:
        """Fit a classifier and return what is told of it, its held-out figures among this.

        Raises:
            RuntimeError: The job failed.
        """
        rows = [
            {"text": e.text, "label": e.labels[0]}
            | ({"text_pair": e.text_pair} if e.text_pair is not None else {})
            | ({"language": e.language} if e.language is not None else {})
            for e in examples
        ]
        parameters = {key: json.dumps(value) for key, value in options.items()}
        query = urllib.parse.urlencode(parameters)
        lines = "\n".join(json.dumps(row) for row in rows)
        job = self._send(
            "PUT", f"/classifiers/{name}?{query}", lines.encode(), "application/x-ndjson"
        )
        assert isinstance(job, dict)
        job = self._send("GET", f"/jobs/{job['id']}?wait=600", None, "")
        assert isinstance(job, dict)
        if job["state"] != "succeeded":
            raise RuntimeError(f"The fit of {name} is {job['state']}: {job['error']}")
        result: dict[str, object] = job["result"]
        return result

    def predict(self, name: str, examples: Sequence[Example]) -> list[str]:
        """Return the likeliest label of each example."""
        found: list[str] = []
        for begin in range(0, len(examples), _BATCH):
            part = examples[begin : begin + _BATCH]
            inputs = [e.text if e.text_pair is None else [e.text, e.text_pair] for e in part]
            body = {"classifier": name, "inputs": inputs, "top_k": 1}
            rows = self._send("POST", "/classify", json.dumps(body).encode(), "application/json")
            assert isinstance(rows, list)
            found += [row[0]["label"] for row in rows]
        return found

    def accuracy(self, name: str, examples: Sequence[Example]) -> float:
        """Return the percentage of examples that get their label."""
        found = self.predict(name, examples)
        right = sum(e.labels == (label,) for e, label in zip(examples, found, strict=True))
        return 100 * right / len(examples)

    def _send(self, method: str, path: str, body: bytes | None, kind: str) -> object:
        request = urllib.request.Request(self._url + path, body, method=method)
        if kind:
            request.add_header("content-type", kind)
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            found: object = json.load(answer)
        return found


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with what every measurement takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--data", type=existing_folder, required=True, help="data folder (docs/data.md)"
    )
    parser.add_argument(
        "--model",
        type=existing_folder,
        default=FAST,
        help="bundle, or any model directory",
    )
    parser.add_argument("--out", type=result_file, help="write the figures here, as JSON")
    return parser


@contextmanager
def api(model: Path) -> Iterator[Api]:
    """Give a server with `model` for the time of the block."""
    with served(model) as server:
        yield Api(server.url)


def write(figures: object, path: Path | None) -> None:
    """Print `figures` as JSON, and write them to `path` where one is given."""
    text = json.dumps(figures, indent=1, ensure_ascii=False)
    print(text)
    if path is not None:
        path.write_text(text + "\n", encoding="utf-8")
