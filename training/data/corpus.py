"""All parallel text of a run in one table: distinct sentences, and pairs of their numbers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from service.errors import InputError
from training.data.cldr import read_cldr
from training.data.cleaning import (
    Cleaner,
    CleaningRules,
    Sentence,
    comparison_key,
    make_sentence,
)
from training.data.folder import DataFolder, evaluation_sentences
from training.data.held_out import Pair, first_rows, join_pairs
from training.data.lines import BrokenLines, OnBroken
from training.data.moses import find_moses, read_moses
from training.data.nway import NWay, find_nway, read_nway
from training.progress import QUIET, Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusPlan:
    """What to read, and what to make of it."""

    sources: tuple[str, ...]  # folders under parallel/, in the order in which they are read
    languages: tuple[str, ...]  # of pairs; after variants are joined
    variants: Mapping[str, str] = field(default_factory=dict)  # file's code -> language
    pivot: str = "en"  # n-way rows give a pair of each cell with this language ...
    partners: int = 1  # ... and with so many others, drawn at random
    alone: bool = False  # text in the pivot alone is taken, each sentence beside itself
    held_out_source: str | None = None  # a source whose rows, or pairs of each of its files, ...
    held_out_rows: tuple[int, int] = (0, 0)  # ... from .. below are not trained on
    evaluation: tuple[str, ...] = ()  # sets under eval/ whose sentences are left out
    rules: CleaningRules = field(default_factory=CleaningRules)
    broken: OnBroken = "refuse"
    seed: int = 0

    def with_sources(self, sources: tuple[str, ...]) -> CorpusPlan:
        """Return the same plan for other sources."""
        return replace(self, sources=sources)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Distinct sentences and pairs of their numbers.

    Attributes:
        texts: One sentence each, in NFC.
        language: int16 [sentences], index into `languages`.
        pairs: int32 [pairs, 2], sentence numbers; the pivot stands second where it takes part. A
            sentence of a source in the pivot's language alone stands twice, if the plan takes it.
        source: int16 [pairs], index into `sources`.
        languages: Their codes.
        sources: Their names.
        held_out: Language -> sentences to develop on, row by row; empty where missing.
        counts: What cleaning made of the pairs of each source.
        broken: Unusable lines that were skipped.
    """

    texts: list[str]
    language: npt.NDArray[np.int16]
    pairs: npt.NDArray[np.int32]
    source: npt.NDArray[np.int16]
    languages: tuple[str, ...]
    sources: tuple[str, ...]
    held_out: dict[str, list[str]]
    counts: dict[str, Counter[str]]
    broken: int = 0

    def pairs_by_source(self) -> dict[str, int]:
        """Return how many pairs each source gave."""
        found = np.bincount(self.source, minlength=len(self.sources))
        return {name: int(found[i]) for i, name in enumerate(self.sources)}

    def sentences_of(self, language: str) -> npt.NDArray[np.int64]:
        """Return the numbers of the sentences of `language`."""
        if language not in self.languages:
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.language == self.languages.index(language))

    def sentences_outside(self, sources: Collection[str]) -> npt.NDArray[np.int32]:
        """Return the numbers of the sentences that a source besides `sources` has, sorted."""
        inside = [number for number, name in enumerate(self.sources) if name in sources]
        return np.unique(self.pairs[~np.isin(self.source, inside)])


def build_corpus(
    folder: DataFolder,
    plan: CorpusPlan,
    progress: Progress = QUIET,
) -> Corpus:
    """Read, clean and join the sources of `plan`.

    Args:
        folder: Where they lie.
        plan: Which, and how.
        progress: Told after each source how far it is.

    Raises:
        InputError: A source cannot be read, a broken line is refused, or the rows to be held out
            lie beyond the end of theirs.
        NotFoundError: The folder lacks a source.
    """
    builder = _Builder(folder, plan)
    for name in plan.sources:
        builder.read(name)
        progress.note(f"{name}: {len(builder.pairs):,} pairs so far")
    for line in builder.broken.examples:
        progress.note(f"skipped {line}")
    return builder.finish()


class _Builder:
    def __init__(self, folder: DataFolder, plan: CorpusPlan) -> None:
        self.folder = folder
        self.plan = plan
        self.pairs: list[tuple[int, int]] = []
        self.broken = BrokenLines(plan.broken, may_skip=True)
        self._source: list[int] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._sentences: list[Sentence] = []
        self._language: list[int] = []
        self._codes = {language: number for number, language in enumerate(plan.languages)}
        self._wanted = {
            *plan.languages,
            *(code for code, language in plan.variants.items() if language in plan.languages),
        }
        self._random = np.random.default_rng(plan.seed)
        self.held_out = self._read_held_out()
        self.cleaner = Cleaner(
            plan.rules,
            evaluation=map(comparison_key, evaluation_sentences(folder, plan.evaluation)),
            held_out=(comparison_key(s) for column in self.held_out.values() for s in column),
        )

    def _language_of(self, code: str) -> str:
        return self.plan.variants.get(code, code)

    def _read_held_out(self) -> dict[str, list[str]]:
        name = self.plan.held_out_source
        if name is None or name not in self.folder.sources:
            return {}
        path = self.folder.source(name)
        first, end = self.plan.held_out_rows
        # Of a source that is trained on as well, broken lines are counted there.
        chosen = BrokenLines(self.plan.broken, may_skip=True)
        broken = chosen if name in self.plan.sources else self.broken
        if find_nway(path):
            rows = read_nway(path, languages=self.plan.languages, broken=broken)
            self._refuse_none(name, len(rows))
            return first_rows({name: column[first:end] for name, column in rows.columns.items()})
        away: list[Pair] = []
        longest = 0  # of its files
        for number, pair in self._moses_pairs(path, broken):
            longest = max(longest, number + 1)
            if first <= number < end:
                away.append(self._pivot_second(pair))
        self._refuse_none(name, longest)
        return join_pairs(away, self.plan.languages)

    def _refuse_none(self, name: str, rows: int) -> None:
        """Refuse to hold out what lies beyond the end: all would be trained on, unsaid."""
        first = self.plan.held_out_rows[0]
        if 0 < rows <= first:
            raise InputError(
                f"{name} has {rows:,} rows, so none is held out.",
                field="held_out_first",
                given=first,
                remedy=f"Name a row below {rows:,}, or hold out nothing: --set held_out_source=",
            )

    def read(self, name: str) -> None:
        """Add the pairs of one source."""
        path = self.folder.source(name)
        number = self.plan.sources.index(name)
        self.cleaner.counts.setdefault(name, Counter())
        held_out = range(*self.plan.held_out_rows if name == self.plan.held_out_source else (0, 0))
        nway = find_nway(path)
        for place, pair in self._moses_pairs(path, self.broken):
            if nway or place not in held_out:  # where there are rows, those are what is held out
                self._add(number, pair)
        if nway:
            table = read_nway(path, languages=self._wanted, broken=self.broken)
            rows = self._nway_pairs(table, held_out, self.plan.partners)
        else:
            # Words of a lexicon are few: each is tied to the others through the pivot's alone.
            table = read_cldr(path, languages=self._wanted, broken=self.broken)
            rows = self._nway_pairs(table, range(0), partners=0)
        for pair in rows:
            self._add(number, pair)
        if self.plan.alone and set(nway) == {self.plan.pivot}:
            for text in table.columns[self.plan.pivot]:
                self._add(number, (text, self.plan.pivot, text, self.plan.pivot))

    def _moses_pairs(self, path: Path, broken: BrokenLines) -> Iterator[tuple[int, Pair]]:
        """Yield the pairs of each two files at `path`, numbered without broken lines."""
        for files in find_moses(path):
            if files.source in self._wanted and files.target in self._wanted:
                source, target = self._language_of(files.source), self._language_of(files.target)
                for number, (left, right) in enumerate(read_moses(files, broken)):
                    yield number, (left, source, right, target)

    def _nway_pairs(self, table: NWay, held_out: range, partners: int) -> Iterator[Pair]:
        for number, row in enumerate(table.rows()):
            if number in held_out:
                continue
            pivot = row.pop(self.plan.pivot, None)
            codes = list(row)
            for code in codes:
                language = self._language_of(code)
                if pivot is not None:
                    yield row[code], language, pivot, self.plan.pivot
                for _ in range(partners if len(codes) > 1 else 0):
                    other = codes[int(self._random.integers(len(codes)))]
                    if self._language_of(other) != language:
                        yield row[code], language, row[other], self._language_of(other)

    def _add(self, source: int, pair: Pair) -> None:
        left, left_code, right, right_code = self._pivot_second(pair)
        first, second = self._number(left, left_code), self._number(right, right_code)
        name = self.plan.sources[source]
        if self.cleaner.judge(name, self._sentences[first], self._sentences[second]):
            self.pairs.append((first, second))
            self._source.append(source)

    def _pivot_second(self, pair: Pair) -> Pair:
        left, left_code, right, right_code = pair
        return (right, right_code, left, left_code) if left_code == self.plan.pivot else pair

    def _number(self, text: str, language: str) -> int:
        number = self._numbers.get((text, language))
        if number is None:
            number = self._numbers[(text, language)] = len(self._sentences)
            self._sentences.append(make_sentence(text))
            self._language.append(self._codes[language])
        return number

    def finish(self) -> Corpus:
        """Return the corpus with the sentences that stand in a kept pair only."""
        pairs = np.array(self.pairs, dtype=np.int32).reshape(-1, 2)
        used = np.unique(pairs)
        renumbered = np.full(len(self._sentences), -1, dtype=np.int32)
        renumbered[used] = np.arange(len(used), dtype=np.int32)
        return Corpus(
            texts=[self._sentences[i].text for i in used],
            language=np.array(self._language, dtype=np.int16)[used],
            pairs=renumbered[pairs],
            source=np.array(self._source, dtype=np.int16),
            languages=self.plan.languages,
            sources=self.plan.sources,
            held_out=self.held_out,
            counts=self.cleaner.counts,
            broken=self.broken.count,
        )


def save_corpus(corpus: Corpus, directory: Path) -> None:
    """Write `corpus` into `directory`: numbers as npz, sentences a line each."""
    directory.mkdir(parents=True, exist_ok=True)
    np.savez(
        directory / "corpus.npz",
        language=corpus.language,
        pairs=corpus.pairs,
        source=corpus.source,
    )
    texts = "\n".join(text.replace("\n", " ") for text in corpus.texts)
    (directory / "texts.txt").write_text(texts, encoding="utf-8", newline="\n")
    described = {
        "languages": corpus.languages,
        "sources": corpus.sources,
        "held_out": corpus.held_out,
        "counts": corpus.counts,
        "broken": corpus.broken,
    }
    (directory / "corpus.json").write_text(
        json.dumps(described, ensure_ascii=False), encoding="utf-8"
    )


def load_corpus(directory: Path) -> Corpus:
    """Read what `save_corpus` wrote."""
    described = json.loads((directory / "corpus.json").read_text(encoding="utf-8"))
    with np.load(directory / "corpus.npz") as arrays:
        language, pairs, source = arrays["language"], arrays["pairs"], arrays["source"]
    text = (directory / "texts.txt").read_bytes().decode("utf-8")
    return Corpus(
        texts=text.split("\n") if len(language) else [],
        language=language,
        pairs=pairs,
        source=source,
        languages=tuple(described["languages"]),
        sources=tuple(described["sources"]),
        held_out=described["held_out"],
        counts={name: Counter(count) for name, count in described["counts"].items()},
        broken=described["broken"],
    )
