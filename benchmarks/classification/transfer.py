"""Fit on English, classify the other languages: accuracy against the number of examples.

    python -m benchmarks.classification.transfer --data DIR [--model DIR] [--task topic]
        [--out figures.json] [--plot docs/few-shot-curve.svg]

0, 5, 20, 100 and all examples a label, with and without the labels described in words, each mean
of as many draws as `--draws`; and the same rows classified on TF-IDF of character n-grams.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from benchmarks.arguments import result_file, whole_number
from benchmarks.classification.api import Api, api, arguments, write
from benchmarks.classification.tasks import TASKS, Task, some_of_each
from benchmarks.classification.tfidf import tfidf_accuracies
from service.classification.example import Example

SHOTS = (5, 20, 100)
LANGUAGES = (
    "en", "de", "fr", "es", "it", "ru", "zh", "ja", "ar", "pt", "nl", "pl", "tr", "ko", "hi", "vi",
)  # fmt: skip
"""Those of the shipped encoder, whatever the model, so that figures can be compared."""
ALL = 10**9

Figures = dict[str, dict[str, float]]
"""Number of examples a label -> language -> accuracy, %."""


def main() -> None:
    """Measure, print, draw."""
    parser = arguments(__doc__)
    parser.add_argument("--task", action="append", choices=sorted(TASKS), help="all by default")
    parser.add_argument("--draws", type=whole_number, default=3)
    parser.add_argument("--plot", type=result_file)
    options = parser.parse_args()
    found: dict[str, dict[str, object]] = {}
    with api(options.model) as server:
        for name in options.task or TASKS:
            task = TASKS[name]
            tests = task.test_examples(options.data, LANGUAGES)
            train = task.fit_examples(options.data)
            curves = {"examples": curve(server, task, train, tests, options.draws, described=False)}
            if task.descriptions:
                curves["described"] = curve(
                    server, task, train, tests, options.draws, described=True
                )
                curves["tfidf"] = {"all": tfidf_accuracies(train, tests)}
            found[name] = {way: summary(figures) for way, figures in curves.items()}
    write({"model": options.model.name, "tasks": found}, options.out)
    if options.plot:
        from benchmarks.classification.plot import draw

        draw(found, options.plot)


def curve(
    server: Api,
    task: Task,
    train: Sequence[Example],
    tests: Mapping[str, Sequence[Example]],
    draws: int,
    *,
    described: bool,
) -> Figures:
    """Return the accuracies for each number of examples."""
    words: Mapping[str, object] = {"labels": dict(task.descriptions)} if described else {}
    words = {**words, "contradictions": "drop"}
    figures: Figures = {}
    if described:
        server.fit("measured", [], options=words)
        figures["0"] = by_language(server, tests)
    for shots in (*SHOTS, ALL):
        runs = []
        for seed in range(1 if shots == ALL else draws):
            server.fit("measured", some_of_each(train, shots, seed=seed), options=words)
            runs.append(by_language(server, tests))
        figures["all" if shots == ALL else str(shots)] = {
            code: statistics.mean(run[code] for run in runs) for code in tests
        }
    return figures


def by_language(server: Api, tests: Mapping[str, Sequence[Example]]) -> dict[str, float]:
    """Return the accuracy in each language of the classifier fitted last."""
    return {code: server.accuracy("measured", rows) for code, rows in tests.items()}


def summary(figures: Figures) -> dict[str, dict[str, float]]:
    """Return English, the mean of the others, their ratio and all, by number of examples."""
    rows = {}
    for shots, accuracies in figures.items():
        others = statistics.mean(value for code, value in accuracies.items() if code != "en")
        rows[shots] = {
            "en": round(accuracies["en"], 1),
            "others": round(others, 1),
            "ratio": round(100 * others / accuracies["en"], 1),
            **{code: round(value, 1) for code, value in accuracies.items() if code != "en"},
        }
    return rows


if __name__ == "__main__":
    main()
