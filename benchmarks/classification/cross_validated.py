"""How much of the English accuracy the other languages reach, on every labelled row there is.

    python -m benchmarks.classification.cross_validated --data DIR [--model DIR] [--task topic]

The development parts are small: SIB-200's 99 sentences leave four points of error on a language.
Here the rows of the training and development parts are dealt into five folds; a classifier is
fitted on the English rows of four, and asked for the rows of the fifth in every language. SIB-200's
rows are the same sentences in every language, so no classifier sees a sentence that it is asked
for, in whatever language. The interval is that of 2,000 bootstrap samples of the rows.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.classification.api import Api, api, arguments, write
from benchmarks.classification.tasks import TASKS, Task
from benchmarks.classification.transfer import LANGUAGES
from service.classification.example import Example

FOLDS = 5
_SAMPLES = 2000

Right = dict[str, npt.NDArray[np.bool_]]
"""Language -> whether each of its rows was labelled rightly."""


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--task", action="append", choices=("topic", "sentiment"), help="both")
    options = parser.parse_args()
    found = {}
    with api(options.model) as server:
        for name in options.task or ("topic", "sentiment"):
            right = classified(server, _rows(TASKS[name], options.data))
            found[name] = {"all": summary(right)}
            if name == "sentiment":  # UMSAB's Hindi is in Latin letters
                rest = {code: values for code, values in right.items() if code != "hi"}
                found[name]["all but hi"] = summary(rest)
    write(found, options.out)


def classified(server: Api, rows: dict[str, list[Example]]) -> Right:
    """Return which rows are labelled rightly by a classifier that has not seen them."""
    places = {code: np.arange(len(examples)) % FOLDS for code, examples in rows.items()}
    right = {code: np.zeros(len(examples), dtype=np.bool_) for code, examples in rows.items()}
    for fold in range(FOLDS):
        train = [e for e, place in zip(rows["en"], places["en"], strict=True) if place != fold]
        server.fit("measured", train, options={"contradictions": "drop"})
        for code, examples in rows.items():
            asked = np.flatnonzero(places[code] == fold)
            labels = server.predict("measured", [examples[row] for row in asked])
            right[code][asked] = [
                examples[row].labels == (label,) for row, label in zip(asked, labels, strict=True)
            ]
    return right


def summary(right: Right) -> dict[str, object]:
    """Return English, the mean of the others, their ratio with its interval, and all languages."""
    english, others, ratio = _ratio({code: values.mean() for code, values in right.items()})
    random = np.random.default_rng(0)
    ratios = [
        _ratio({code: values.mean() for code, values in _resampled(right, random).items()})[2]
        for _ in range(_SAMPLES)
    ]
    low, high = np.percentile(ratios, (2.5, 97.5))
    return {
        "rows a language": {code: len(values) for code, values in right.items()},
        "en": round(english, 1),
        "others": round(others, 1),
        "ratio": round(ratio, 1),
        "95 % interval": [round(float(low), 1), round(float(high), 1)],
        **{code: round(100 * float(v.mean()), 1) for code, v in right.items() if code != "en"},
    }


def _ratio(accuracies: dict[str, np.floating]) -> tuple[float, float, float]:
    english = 100 * float(accuracies["en"])
    rest = [float(value) for code, value in accuracies.items() if code != "en"]
    others = 100 * sum(rest) / len(rest)
    return english, others, 100 * others / english


def _resampled(right: Right, random: np.random.Generator) -> Right:
    """Draw rows with replacement; the same ones of every language where the rows are parallel."""
    sizes = {len(values) for values in right.values()}
    if len(sizes) == 1:
        chosen = random.integers(min(sizes), size=min(sizes))
        return {code: values[chosen] for code, values in right.items()}
    return {
        code: values[random.integers(len(values), size=len(values))]
        for code, values in right.items()
    }


def _rows(task: Task, data: Path) -> dict[str, list[Example]]:
    tests = task.test_examples(data, LANGUAGES)
    return {code: [*task.fit_examples(data, code), *rows] for code, rows in tests.items()}


if __name__ == "__main__":
    main()
