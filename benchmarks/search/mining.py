"""Bitext mining measured: F1 of the pairs that are found among parallel text with distractors.

    python -m benchmarks.search.mining --data DIR --languages de,fr,zh

`DIR` holds NTREX-128 as `LANGUAGE.txt.gz`, one sentence a line, the same line the same sentence.
The lines from 700 on, which no training has seen, are cut in two: the threshold is chosen on the
pairs of the first part, and the figures are of the second. The distractors are of the lines before:
one half of them stands on the English side alone, the other half on the other side alone.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.arguments import existing_folder
from benchmarks.models import FAST
from service.inference.encoder import Encoder
from service.search.corpora import Corpora, Corpus
from service.search.document import Document
from service.search.mining import DEFAULT_THRESHOLD, MinedPair, Side, mine

HELD_OUT = 700
"""Training took NTREX's lines before it, which are the distractors here."""

THRESHOLDS = np.arange(1.0, 1.4, 0.01)


@dataclass(frozen=True, slots=True)
class Quality:
    """How the mined pairs compare with the true ones."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Part:
    """What was mined from one part without any threshold, and how many pairs are true."""

    pairs: Sequence[MinedPair]
    true: int

    def quality(self, threshold: float) -> Quality:
        """Return precision and recall of the pairs with at least this margin."""
        kept = [pair for pair in self.pairs if pair.margin >= threshold]
        right = sum(pair.source == pair.target for pair in kept)
        return Quality(right / len(kept) if kept else 0.0, right / self.true)


def read_lines(path: Path) -> list[str]:
    """Return the sentences of one language."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.strip() for line in file]


def mine_part(english: Sequence[str], other: Sequence[str], rows: range, encoder: Encoder) -> Part:
    """Mine the held-out `rows`, which stand on both sides, among the distractors."""
    half = HELD_OUT // 2
    with tempfile.TemporaryDirectory() as directory:
        corpora = Corpora(Path(directory))
        a = _corpus(corpora, "a", english, [*range(half), *rows], encoder)
        b = _corpus(corpora, "b", other, [*range(half, HELD_OUT), *rows], encoder)
        pairs = mine(Side(a), Side(b), threshold=-np.inf)
        corpora.close()
    return Part(pairs, len(rows))


def _corpus(
    corpora: Corpora, name: str, texts: Sequence[str], rows: Sequence[int], encoder: Encoder
) -> Corpus:
    space = encoder.manifest.space
    corpus = corpora.create(name, model=encoder.name, space=space, dimension=encoder.dimension)
    documents = [Document(str(row), texts[row]) for row in rows]
    corpus.upsert(documents, encoder.encode([document.text for document in documents]))
    return corpus


def main() -> None:
    """Print precision, recall and F1 by language, at the best threshold and at the default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=existing_folder, required=True, help="NTREX-128, LANGUAGE.txt.gz"
    )
    parser.add_argument("--model", type=existing_folder, default=FAST)
    parser.add_argument("--languages", default="de,fr,es,it,ru,zh,ja,ar,pt,nl,pl,tr,ko,hi,vi")
    arguments = parser.parse_args()
    languages = arguments.languages.split(",")
    for name in ("en", *languages):
        if not (arguments.data / f"{name}.txt.gz").is_file():
            parser.error(f"{arguments.data} has no {name}.txt.gz; --data is NTREX-128's folder")
    encoder = Encoder(arguments.model)
    english = read_lines(arguments.data / "en.txt.gz")
    middle = (HELD_OUT + len(english)) // 2
    first, second = range(HELD_OUT, middle), range(middle, len(english))
    chosen_on, measured_on = {}, {}
    for language in languages:
        other = read_lines(arguments.data / f"{language}.txt.gz")
        chosen_on[language] = mine_part(english, other, first, encoder)
        measured_on[language] = mine_part(english, other, second, encoder)
    means = [np.mean([p.quality(t).f1 for p in chosen_on.values()]) for t in THRESHOLDS]
    best = float(THRESHOLDS[int(np.argmax(means))])
    print(f"{len(second)} pairs among {HELD_OUT // 2} distractors on each side")
    print(f"{encoder.name}: best mean F1 on the first part at a margin of {best:.2f}")
    print("language  precision  recall     F1   at the default threshold")
    for language, part in measured_on.items():
        at_best, at_default = part.quality(best), part.quality(DEFAULT_THRESHOLD)
        print(
            f"{language:8}  {at_best.precision:9.3f}  {at_best.recall:6.3f}  {at_best.f1:5.3f}  "
            f"{at_default.f1:5.3f}"
        )
    parts = measured_on.values()
    print(
        f"mean F1 {np.mean([p.quality(best).f1 for p in parts]):.3f}, at the default threshold of "
        f"{DEFAULT_THRESHOLD} {np.mean([p.quality(DEFAULT_THRESHOLD).f1 for p in parts]):.3f}"
    )


if __name__ == "__main__":
    main()
