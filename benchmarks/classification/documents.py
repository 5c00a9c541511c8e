"""Yu, Li & Oguz 2018, Table 5, on news: documents by splitting and pooling.

    python -m benchmarks.classification.documents --data DIR [--model DIR] [--out figures.json]

Fitted on English news articles (MasakhaNEWS), tested on English, French and German ones; beside the
four ways of the table, the whole article as one text, cut where the encoder's limit is.
"""

from __future__ import annotations

import statistics
from pathlib import Path

from benchmarks.classification.api import api, arguments, write
from service.classification.example import Example
from training.data.labelled_rows import read_labelled

LABELS = ("business", "entertainment", "politics", "sports", "technology")
"""What both sets have."""
TESTS = {"en": "masakhanews", "fr": "masakhanews", "de": "newstopics"}
WAYS: dict[str, dict[str, object]] = {
    "one text": {},
    **{
        f"{splitting}, {pooling}": {"document": True, "splitting": splitting, "pooling": pooling}
        for splitting in ("sentences", "windows")
        for pooling in ("mean", "max")
    },
}


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__).parse_args()
    train = _read(options.data, "masakhanews", "en.train")
    tests = {code: _read(options.data, name, f"{code}.dev") for code, name in TESTS.items()}
    found = {}
    with api(options.model) as server:
        for way, fields in WAYS.items():
            server.fit("news", train, options={**fields, "contradictions": "drop"})
            accuracies = {c: round(server.accuracy("news", rows), 1) for c, rows in tests.items()}
            mean = statistics.mean(value for code, value in accuracies.items() if code != "en")
            found[way] = {**accuracies, "mean of fr and de": round(mean, 1)}
    write(found, options.out)


def _read(data: Path, folder: str, name: str) -> list[Example]:
    path = data / "eval" / folder / f"{name}.tsv.gz"
    return list(read_labelled(path, language=name[:2], labels=LABELS))


if __name__ == "__main__":
    main()
