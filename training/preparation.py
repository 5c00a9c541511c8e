"""What recipes share before the loop: corpus, vocabulary and tokens, made once and kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from service.bundle.manifest import DataSource
from service.errors import InputError
from service.text.tokenizer import SentencePieceTokenizer
from training.data.catalogue import find_source, refuse_research_only
from training.data.cleaning import cleaning_table
from training.data.corpus import Corpus, CorpusPlan, build_corpus, load_corpus, save_corpus
from training.data.folder import DataFolder
from training.data.tokens import TokenTable, tokenize
from training.vocabulary import VocabularyPlan, train_vocabulary
from training.workspace import Workspace


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
    """Return the corpus of `plan` and say what cleaning left out; sources not here are named."""

    def make() -> Corpus:
        folder = work.folder()
        sources = choose_sources(folder, plan.sources, research=research)
        for missing in sorted(set(plan.sources) - set(sources)):
            work.progress.note(f"{missing}: not in {folder.root}, trained without it")
        corpus = build_corpus(folder, plan.with_sources(sources), work.progress)
        work.progress.note(cleaning_table(corpus.counts))
        if corpus.broken:
            work.progress.note(f"{corpus.broken:,} broken lines skipped")
        return corpus

    work.progress.title("corpus: read and clean parallel text")
    corpus = work.keep("corpus", make, save=save_corpus, load=load_corpus)
    work.progress.note(f"{len(corpus.pairs):,} pairs of {len(corpus.texts):,} sentences")
    return corpus


def prepare_vocabulary(
    work: Workspace, corpus: Corpus, plan: VocabularyPlan, *, name: str = "vocabulary.model"
) -> bytes:
    """Return the SentencePiece model file for `corpus`."""
    work.progress.title(f"vocabulary: {plan.pieces:,} {plan.kind} pieces")
    return work.keep(
        name,
        lambda: train_vocabulary(corpus, plan),
        save=lambda model, path: _write(path, model),
        load=Path.read_bytes,
    )


def prepare_tokens(
    work: Workspace, corpus: Corpus, vocabulary: bytes, *, longest: int, name: str = "tokens.npz"
) -> TokenTable:
    """Return the ids of all sentences of `corpus`."""
    work.progress.title("tokens: all sentences to ids")
    tokenizer = SentencePieceTokenizer(vocabulary)
    return work.keep(
        name,
        lambda: tokenize(corpus.texts, tokenizer, max_tokens=longest, progress=work.progress),
        save=TokenTable.save,
        load=TokenTable.load,
    )


def provenance(corpus: Corpus) -> tuple[DataSource, ...]:
    """Return what the model's card has to say of each source."""
    return tuple(
        DataSource(
            name=name,
            licence=find_source(name).licence,
            attribution=find_source(name).attribution,
            sentence_pairs=pairs,
        )
        for name, pairs in corpus.pairs_by_source().items()
        if pairs
    )


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
