"""What `interlingua index` does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from service.bulk.sources import (
    TABLES,
    FieldNames,
    Format,
    GeneratedIds,
    Source,
    to_incoming,
)
from service.commands.corpora_directory import fitting_encoder, opened_corpora
from service.commands.model_choice import chosen_model
from service.commands.progress_line import ProgressLine
from service.errors import InputError, NotFoundError
from service.hardware import available_cores
from service.inference.encoder import Encoder
from service.inference.engine import Engine
from service.inference.patient import background_documents, embed_patiently
from service.inference.request import check_dimensions
from service.search.backend import CorporaBackend, CorpusBackend
from service.search.fields import FieldTypes, check_types
from service.search.incoming import Incoming
from service.search.indexing import IndexCounts, index_documents
from service.search.passages import PassagePolicy
from service.wording import plural

__all__ = ["FieldNames", "NewCorpus", "Reader", "run_index"]

LISTED_ERRORS = 10
BATCH_TOKENS = 4096
QUEUE_TOKENS = 1 << 30
"""As good as no bound: there is one caller, who waits."""


@dataclass(frozen=True, slots=True)
class NewCorpus:
    """What a corpus is made like where it is not there.

    Attributes:
        dimensions: Kept of each vector; all where None.
        passage_words: Of the longest passage; documents stay whole where None.
        fields: Metadata fields that are declared, as NAME=TYPE; any are taken where there are none.
    """

    dimensions: int | None = None
    passage_words: int | None = None
    fields: tuple[str, ...] = ()


def run_index(
    paths: Sequence[str],
    name: str,
    reader: Reader,
    new: NewCorpus,
    *,
    format: Format | None,
    overwrite: bool,
    quiet: bool,
    data: Path | None,
    model: Path | None,
) -> None:
    """Put the documents of `paths` into the corpus `name`, and say what came of each."""
    sources = [Source(path, format) for path in paths]
    ids = GeneratedIds(paths)
    with opened_corpora(data) as corpora:
        corpus, encoder = _open(corpora, name, model, data, new)
        options = background_documents(encoder)
        engine = Engine(
            workers=available_cores(), batch_tokens=BATCH_TOKENS, queue_tokens=QUEUE_TOKENS
        )
        with closing(engine):
            for source in sources:
                counts = IndexCounts()
                with ProgressLine("documents", quiet=quiet) as progress:
                    for counts in index_documents(
                        corpus,
                        reader.items(source, corpus, ids, progress.note),
                        lambda texts: embed_patiently(engine, encoder, texts, options).vectors,
                        overwrite=overwrite,
                    ):
                        progress.update(counts.total, source.fraction)
                    progress.finish(counts.total)
                click.echo(
                    f"{source.path}: {counts.inserted} new, {counts.updated} replaced, "
                    f"{counts.unchanged} unchanged"
                )
        count = corpus.info().documents
        click.echo(f"Corpus {corpus.name} has {count} {plural(count, 'document')}.")
    reader.report()


class Reader:
    """Turns records into documents, and counts those that are none.

    Args:
        names: Which field of a record is what.
        language: Of texts whose record names none.
        strict: Whether the first record that is no document ends the command.
    """

    def __init__(self, names: FieldNames, *, language: str | None, strict: bool) -> None:
        self._names = names
        self._language = language
        self._strict = strict
        self._broken = 0

    def items(
        self,
        source: Source,
        corpus: CorpusBackend,
        ids: GeneratedIds,
        note: Callable[[str], None],
    ) -> Iterator[Incoming]:
        """Yield the documents of `source` that `corpus` takes; tell `note` of the others."""
        names = source.names(self._names)
        for number, record in source.records():
            try:
                yield to_incoming(
                    record,
                    make_id=partial(ids.make, source.path, number),
                    names=names,
                    language=self._language,
                    dimension=corpus.dimension,
                    fields=corpus.fields,
                    table=source.format in TABLES,
                )
            except InputError as error:
                self._refuse(f"{source.path}: record {number}", error, note)

    def report(self) -> None:
        """Fail the command where records were left out."""
        if self._broken:
            what = "record is no document" if self._broken == 1 else "records are no documents"
            raise click.ClickException(f"{self._broken} {what}; see above.")

    def _refuse(self, place: str, error: InputError, note: Callable[[str], None]) -> None:
        if self._strict:
            raise click.ClickException(f"{place}: {error}") from error
        self._broken += 1
        if self._broken <= LISTED_ERRORS:
            note(f"{place}: {error}")


def _open(
    corpora: CorporaBackend, name: str, model: Path | None, data: Path | None, new: NewCorpus
) -> tuple[CorpusBackend, Encoder]:
    try:
        corpus = corpora.get(name)
    except NotFoundError:
        encoder = Encoder(chosen_model(model, data))
        dimension = check_dimensions(encoder.manifest, new.dimensions)
        words = new.passage_words
        corpus = corpora.create(
            name,
            model=encoder.name,
            space=encoder.manifest.space,
            dimension=dimension,
            passages=None if words is None else PassagePolicy(words=words),
            fields=_types(new.fields),
            identity=encoder.manifest.identity,
        )
        return corpus, encoder
    return corpus, fitting_encoder(corpus, model, data)


def _types(declared: Sequence[str]) -> FieldTypes | None:
    for each in declared:
        if "=" not in each:
            raise InputError(
                "A field is declared as NAME=TYPE.",
                field="field",
                given=each,
                remedy=f"Write --field {each}=string, say.",
            )
    types = {name: kind for name, _, kind in (each.rpartition("=") for each in declared)}
    return check_types(types) if types else None
