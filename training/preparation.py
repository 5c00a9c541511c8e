"""What all recipes begin with: the choice of text, the corpus made of it, and where it is from."""

from __future__ import annotations

import difflib
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from service.bundle.manifest import DataSource
from service.errors import InputError
from training.data.catalogue import find_source, refuse_research_only
from training.data.cleaning import cleaning_table
from training.data.corpus import Corpus, CorpusPlan, build_corpus, load_corpus, save_corpus
from training.data.folder import DataFolder
from training.data.scored_pairs import (
    ScoredPairs,
    load_scored_pairs,
    read_scored_pairs,
    save_scored_pairs,
)
from training.parameters import TextParameters
from training.workspace import Workspace

EVERYTHING = ("tatoeba", "stsb", "sts_ja_ko", "sib200")
"""Sets of the folder that systems of many languages are measured on."""

LABELLED = (
    *("xnli", "nli", "pawsx", "xcopa", "senteval", "sentiment_umsab", "xed", "xsid"),
    *("masakhanews", "newstopics", "xdailydialog", "exams_subject"),
)
"""Sets that heads are fitted and measured on: what ships is trained on no sentence of them."""

_TO_THE_END = 10_000_000  # rows


def corpus_plan(
    p: TextParameters,
    *,
    evaluation: tuple[str, ...],
    variants: Mapping[str, str] = MappingProxyType({}),
    pivot: str = "en",
    partners: int = 0,
) -> CorpusPlan:
    """Return the plan of a recipe's corpus.

    Args:
        p: Its parameters.
        evaluation: Sets under eval/ whose sentences are left out.
        variants: A file's code -> language.
        pivot: The language that n-way rows are paired with ...
        partners: ... besides so many others. 0 is enough where they are joined again through it.

    Raises:
        InputError: Rows are joined through the pivot alone, and it is not among the languages.
    """
    if not partners and pivot not in p.languages:
        raise InputError(
            f"Rows of several languages are read as pairs with {pivot}, and it is not among the "
            "languages: of such text nothing would be left.",
            field="languages",
            given=",".join(p.languages),
            remedy=f"Add it: --set languages={','.join((pivot, *p.languages))}.",
        )
    return CorpusPlan(
        sources=p.sources,
        languages=p.languages,
        variants=variants,
        pivot=pivot,
        partners=partners,
        held_out_source=p.held_out_source or None,
        held_out_rows=(p.held_out_first, _TO_THE_END),
        evaluation=evaluation,
        broken=p.broken,
        seed=p.seed,
    )


def require_held_out(name: str, sources: Sequence[str]) -> None:
    """Refuse a source to hold rows out of that is not there: its rows would be trained on, unsaid.

    Args:
        name: That was asked for; nothing is held out where it is empty.
        sources: That the data folder has.

    Raises:
        InputError: It is not among them.
    """
    if name and name not in sources:
        near = difflib.get_close_matches(name, sources, n=1)
        raise InputError(
            f"There is no source of that name to hold rows out of; there are {', '.join(sources)}.",
            field="held_out_source",
            given=name,
            remedy=(f"Did you mean {near[0]!r}? " if near else "")
            + "Hold out nothing with --set held_out_source=",
        )


def choose_sources(folder: DataFolder, names: Sequence[str], *, research: bool) -> tuple[str, ...]:
    """Return those of `names` that the folder has.

    Args:
        folder: The data folder.
        names: Sources that a recipe asks for.
        research: Whether sources for research use only are allowed; the model must not ship then.

    Raises:
        InputError: The folder has none of them, or one may not be used.
    """
    if not research:
        refuse_research_only(names)
    present = folder.present(names)
    if not present:
        raise InputError(
            f"{folder.root} has none of the sources {', '.join(names)}; "
            f"it has {', '.join(folder.sources)}.",
            field="sources",
            remedy="Name those to train on: --set sources=NAME,NAME.",
        )
    return present


def prepare_corpus(work: Workspace, plan: CorpusPlan, *, research: bool = False) -> Corpus:
    """Return the corpus of `plan` and say what cleaning left out; sources not here are named.

    Raises:
        InputError: The folder has none of the sources, one may not be used, or no pair is left.
    """

    def make() -> Corpus:
        folder = work.folder()
        sources = choose_sources(folder, plan.sources, research=research)
        for missing in sorted(set(plan.sources) - set(sources)):
            work.progress.note(f"{missing}: not in {folder.root}, trained without it")
        if plan.held_out_source is not None and plan.held_out_source not in folder.sources:
            work.progress.note(
                f"{plan.held_out_source}: not in {folder.root}, so nothing is held out"
            )
        corpus = build_corpus(folder, plan.with_sources(sources), work.progress)
        work.progress.note(cleaning_table(corpus.counts))
        if corpus.broken:
            work.progress.note(f"{corpus.broken:,} broken lines skipped")
        if not len(corpus.pairs):
            raise InputError(
                f"{', '.join(sources)} have no pair of {', '.join(plan.languages)} to train on.",
                field="languages",
                given=",".join(plan.languages),
                remedy="Name languages that they have, or other sources: --set sources=NAME,NAME.",
            )
        return corpus

    work.progress.title("corpus: read and clean parallel text")

    def shared(corpora: Path) -> Path:
        return corpora / _fingerprint(work.folder(), plan, research=research)

    corpus = work.keep(
        "corpus",
        make,
        save=save_corpus,
        load=load_corpus,
        within=None if work.corpora is None else partial(shared, work.corpora),
    )
    work.progress.note(f"{len(corpus.pairs):,} pairs of {len(corpus.texts):,} sentences")
    return corpus


def _fingerprint(folder: DataFolder, plan: CorpusPlan, *, research: bool) -> str:
    """Return a name that differs where the plan, what it is for or a file it may read does."""
    drawn = plan if plan.partners else replace(plan, seed=0)  # partners alone are drawn
    described = repr((drawn, research, str(folder.root.resolve()), folder.files()))
    return hashlib.sha256(described.encode()).hexdigest()[:16]


def prepare_scored_pairs(
    work: Workspace,
    names: Sequence[str],
    *,
    languages: Sequence[str],
    evaluation: Sequence[str],
    research: bool,
) -> list[ScoredPairs]:
    """Return the training pairs with scores of the sets `names`, and keep them.

    Args:
        work: Keeps them.
        names: Of sets under eval/; the folder may lack them.
        languages: Of the pairs.
        evaluation: Sets whose sentences are left out, but for their training files.
        research: Whether sets for research use only are allowed; the model must not ship then.

    Raises:
        InputError: A set may not be used, or cannot be read.
    """
    if not research:
        refuse_research_only(names)

    def make() -> list[ScoredPairs]:
        folder = work.folder()
        read = partial(
            read_scored_pairs,
            folder,
            languages=languages,
            evaluation=evaluation,
            progress=work.progress,
        )
        return [pairs for name in names for pairs in read(name)]

    return work.keep("scored.json", make, save=save_scored_pairs, load=load_scored_pairs)


def joined(before: Sequence[DataSource], now: Sequence[DataSource]) -> tuple[DataSource, ...]:
    """Return the sources of two trainings of the same weights, each once with its larger count."""
    found = {source.name: source for source in before}
    for source in now:
        known = found.get(source.name)
        if known is None or known.sentence_pairs < source.sentence_pairs:
            found[source.name] = source
    return tuple(found.values())


def provenance(corpus: Corpus, scored: Sequence[ScoredPairs] = ()) -> tuple[DataSource, ...]:
    """Return what the model's card has to say of each source."""
    counts = Counter(corpus.pairs_by_source())
    for pairs in scored:
        counts[pairs.set] += len(pairs.scores)
    return tuple(
        DataSource(
            name=name,
            licence=find_source(name).licence,
            attribution=find_source(name).attribution,
            sentence_pairs=pairs,
        )
        for name, pairs in counts.items()
        if pairs
    )
