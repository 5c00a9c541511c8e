"""Documents into a corpus: all at once, or line by line as they come.

Encoding and storing overlap: while one batch is committed the next is being encoded. The stores of
one request follow each other, so a later line for an id always wins.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence

import numpy as np

from service.api.body import parse_json
from service.api.spool import place_in_line
from service.api.work import Work
from service.errors import ConflictError, InputError, InterlinguaError, OverloadedError
from service.inference.encoder import DOCUMENT_PROMPTS, Encoder
from service.inference.request import Embedded, EmbedOptions
from service.inference.session import Vectors
from service.search.backend import CorpusBackend
from service.search.incoming import Batch, Incoming, incoming_from_json

BATCH_DOCUMENTS = 512
"""Documents of one commit: large enough that the disk does not matter, small enough to hold."""
BATCH_CHARACTERS = 1_000_000
"""A batch ends here too, so that long documents don't make a large one."""
TEXTS_AT_ONCE = 256
"""Passages of a stream that are encoded in one go."""
LISTED_ERRORS = 100
LONGEST_PAUSE_SECONDS = 1.0

Event = Mapping[str, object]


class Ingest:
    """One upsert.

    Args:
        corpus: Where the documents go.
        work: The request's.
        model: The encoder that the request names; a fitting one where None.
        space: Of the vectors that come along, where the request names it.

    Raises:
        ConflictError: Ready-made vectors of another space.
    """

    def __init__(
        self,
        corpus: CorpusBackend,
        work: Work,
        *,
        model: str | None = None,
        space: str | None = None,
    ) -> None:
        if space is not None and space != corpus.space:
            raise ConflictError(
                f"Corpus {corpus.name!r} holds vectors of the space {corpus.space!r}; those of "
                "another cannot be compared with them.",
                field="space",
                given=space,
                remedy="Leave the vectors out to have them made, or make a corpus for them.",
            )
        self._corpus = corpus
        self._work = work
        self._model = model
        self._encoder: Encoder | None = None
        self._streamed = False
        self._inserted = self._updated = self._failed = self._lines = 0
        self._documents = 0  # that were encoded
        self._errors: list[Event] = []
        self._batch: dict[str, Incoming] = {}
        self._batch_characters = 0
        self._storing: asyncio.Task[None] | None = None

    async def documents(self, items: Sequence[Incoming]) -> Event:
        """Store `items`, all or none; return the counts."""
        if self._model is not None:
            self._choose_encoder()
        batch = await self._work.run(Batch, items, self._corpus.passages)
        await self._store(batch, await self._encoded(batch))
        return self._counts()

    async def lines(self, lines: AsyncIterator[tuple[int, bytes]]) -> AsyncIterator[Event]:
        """Store numbered JSON lines batch by batch; yield what happens, the final counts last.

        Raises:
            InputError: Not one line is a document.
            InterlinguaError: What ended it; `done` says what was stored before.
        """
        self._streamed = True
        try:
            if self._model is not None:
                self._choose_encoder()
            async for number, line in lines:
                self._lines = number
                item = self._read(number, line)
                if not isinstance(item, Incoming):
                    yield item
                    continue
                # An id for the second time replaces the first, so the two may not share a commit.
                if item.document.id in self._batch or self._batch_is_full():
                    await self._flush()
                    yield self._progress()
                self._batch[item.document.id] = item
                self._batch_characters += len(item.document.text)
            await self._flush()
            await self._stored()
        except InterlinguaError as error:
            await self._end_storing()
            error.done = self._progress()
            raise
        finally:
            await self._end_storing()  # if the client is gone, too
        if self._failed and not self._inserted + self._updated:
            first = self._errors[0]
            raise InputError(
                f"None of {self._failed} lines is a document; line {first['line']}: "
                f"{first['detail']}",
                field=place_in_line(first["line"], first["field"]),
                remedy='Each line is one JSON object: {"id": "1", "text": "Ice floats."}',
            )
        yield self._counts()

    def _read(self, number: int, line: bytes) -> Incoming | Event:
        try:
            return incoming_from_json(
                parse_json(line, name="line"),
                dimension=self._corpus.dimension,
                fields=self._corpus.fields,
            )
        except InputError as error:
            self._failed += 1
            broken: Event = {"line": number, "detail": error.message, "field": error.field}
            if len(self._errors) < LISTED_ERRORS:
                self._errors.append(broken)
            return broken

    def _batch_is_full(self) -> bool:
        return len(self._batch) >= BATCH_DOCUMENTS or self._batch_characters >= BATCH_CHARACTERS

    async def _flush(self) -> None:
        if not self._batch:
            return
        items = list(self._batch.values())
        self._batch = {}
        self._batch_characters = 0
        batch = await self._work.run(Batch, items, self._corpus.passages)
        encoded = await self._encoded(batch)
        await self._stored()
        self._storing = asyncio.create_task(self._store(batch, encoded))

    async def _encoded(self, batch: Batch) -> Vectors:
        """Return float32 [texts of the batch, dimension], however many passages they are."""
        parts = [np.empty((0, self._corpus.dimension), dtype=np.float32)]
        at_once = TEXTS_AT_ONCE if self._streamed else self._work.max_inputs
        for start in range(0, len(batch.texts), at_once):
            part = slice(start, start + at_once)
            places = [self._documents + place for place in batch.places[part]]
            embedded = await self._embed(self._choose_encoder(), batch.texts[part], places)
            parts.append(embedded.vectors)
        self._documents += len(batch.documents)
        return np.concatenate(parts)

    async def _end_storing(self) -> None:
        """Wait until what was begun is stored, or was not."""
        if self._storing is not None:
            await asyncio.wait([self._storing])

    async def _stored(self) -> None:
        """Wait until the batch before is stored, and raise what it raised."""
        if self._storing is not None:
            storing, self._storing = self._storing, None
            await storing

    def _choose_encoder(self) -> Encoder:
        if self._encoder is None:
            self._encoder = self._work.resources.encoder_for_space(
                self._corpus.space, preferred=self._corpus.model, named=self._model
            )
        return self._encoder

    def _options(self, encoder: Encoder) -> EmbedOptions:
        return EmbedOptions(
            dimensions=self._corpus.dimension,
            normalize=True,
            prompt=encoder.prompt_among(DOCUMENT_PROMPTS),
        )

    async def _embed(
        self, encoder: Encoder, texts: Sequence[str], places: Sequence[int]
    ) -> Embedded:
        options = self._options(encoder)
        if not self._streamed:
            return await self._work.embed(encoder, texts, options, field="documents", places=places)
        # The sender of a stream is slowed by not reading on, which serves it better than an error
        # in the middle.
        patience_ends = time.monotonic() + self._work.timeout_seconds
        while True:
            try:
                return await self._work.embed_part(encoder, texts, options, places=places)
            except OverloadedError as error:
                if time.monotonic() > patience_ends:
                    raise
                await asyncio.sleep(min(error.retry_after_seconds, LONGEST_PAUSE_SECONDS))

    async def _store(self, batch: Batch, encoded: Vectors) -> None:
        vectors = batch.vectors(encoded, dimension=self._corpus.dimension)
        write = self._work.write_part if self._streamed else self._work.write
        counts = await write(self._corpus.name, self._corpus.upsert, batch.documents, vectors)
        self._inserted += counts.inserted
        self._updated += counts.updated
        self._work.metrics.documents_written.labels(self._corpus.name).inc(len(batch.documents))

    def _progress(self) -> dict[str, int]:
        return {
            "lines": self._lines,
            "inserted": self._inserted,
            "updated": self._updated,
            "failed": self._failed,
        }

    def _counts(self) -> Event:
        return {
            "inserted": self._inserted,
            "updated": self._updated,
            "truncated": self._work.truncated,
            "failed": self._failed,
            "errors": self._errors,
        }
