"""Chidambaram et al. 2018, Table 6, on UMSAB: all of English and a share of the target language.

    python -m benchmarks.classification.few_shot --data DIR [--model DIR] [--out figures.json]

The claim: with as little as a fifth of the target's examples beside the English ones, a classifier
does nearly as well as one fitted on all of the target's.
"""

from __future__ import annotations

import statistics

from benchmarks.classification.api import Api, api, arguments, write
from benchmarks.classification.tasks import TASKS
from service.classification.example import Example

TARGETS = ("fr", "de")
SHARES = (0, 10, 20, 40, 80, 100)


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__).parse_args()
    task = TASKS["sentiment"]
    english = task.fit_examples(options.data)
    tests = task.test_examples(options.data, TARGETS)
    found: dict[str, dict[str, dict[str, float]]] = {}
    with api(options.model) as server:
        for target in TARGETS:
            own = task.fit_examples(options.data, target)
            few = {str(s): _mean(server, english, own, tests[target], s) for s in SHARES}
            alone = {str(s): _mean(server, [], own, tests[target], s) for s in SHARES[1:]}
            found[target] = {"100 % en + X %": few, "0 % en + X %": alone}
    write(found, options.out)


def _mean(
    server: Api, english: list[Example], own: list[Example], test: list[Example], share: int
) -> float:
    """Return the accuracy, %, mean over three draws of the share."""
    accuracies = []
    for part in range(1 if share in (0, 100) else 3):
        begin = part * len(own) // 3
        count = share * len(own) // 100
        chosen = (own + own)[begin : begin + count]
        server.fit("few", [*english, *chosen], options={"contradictions": "drop"})
        accuracies.append(server.accuracy("few", test))
    return round(statistics.mean(accuracies), 1)


if __name__ == "__main__":
    main()
