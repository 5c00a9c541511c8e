"""Documents into a corpus: all at once, or line by line as they come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from fastapi import Request

from service.api.body import lines, parse_json
from service.api.work import Work
from service.errors import InputError, OverloadedError
from service.inference.encoder import Encoder
from service.inference.engine import Embedded, EmbedOptions
from service.inference.vectors import finish
from service.search.backend import CorpusBackend
from service.search.document import Document, document_from_json

BATCH_DOCUMENTS = 256
"""Documents of one commit: large enough that the disk does not matter, small enough to hold."""
BATCH_CHARACTERS = 1_000_000
"""A batch ends here too, so that long documents don't make a large one."""
LISTED_ERRORS = 100
LONGEST_PAUSE_SECONDS = 1.0


class Ingest:
    """One upsert.

    Args:
        corpus: Where the documents go.
        work: The request's.
        encoder: Of the corpus' space.
    """

    def __init__(self, corpus: CorpusBackend, work: Work, encoder: Encoder) -> None:
        self._corpus = corpus
        self._work = work
        self._encoder = encoder
        self._inserted = self._updated = self._truncated = self._failed = 0
        self._errors: list[dict[str, object]] = []
        self._batch: dict[str, Document] = {}
        self._batch_characters = 0

    @classmethod
    async def begin(cls, corpus: CorpusBackend, work: Work, *, model: str | None) -> Ingest:
        """Choose the encoder.

        Raises:
            ConflictError: `model`, or every loaded model, makes vectors of another space.
        """
        info = await work.run(corpus.info)
        encoder = work.resources.encoder_for_space(corpus.space, preferred=info.model, named=model)
        return cls(corpus, work, encoder)

    async def documents(self, documents: Sequence[Document]) -> dict[str, object]:
        """Store `documents`, all or none; return the counts."""
        texts = [document.text for document in documents]
        options = EmbedOptions(dimensions=self._corpus.dimension, normalize=True)
        embedded = await self._work.embed(self._encoder, texts, options, field="documents")
        await self._store(documents, embedded)
        return self._counts()

    async def lines(self, request: Request) -> dict[str, object]:
        """Store the documents of a body of JSON lines, batch by batch; return the counts.

        Raises:
            InputError: Not one line is a document.
        """
        async for number, line in lines(request, limit_bytes=self._work.max_line_bytes):
            document = self._read(number, line)
            if document is None:
                continue
            # An id for the second time replaces the first, so the two may not share a commit.
            if document.id in self._batch:
                await self._flush()
            self._batch[document.id] = document
            self._batch_characters += len(document.text)
            if len(self._batch) >= BATCH_DOCUMENTS or self._batch_characters >= BATCH_CHARACTERS:
                await self._flush()
        await self._flush()
        if self._failed and not self._inserted + self._updated:
            raise InputError(
                f"None of {self._failed} lines is a document; line {self._errors[0]['line']}: "
                f"{self._errors[0]['detail']}",
                field=f"line {self._errors[0]['line']}",
                remedy='Each line is one JSON object: {"id": "1", "text": "Ice floats."}',
            )
        return self._counts()

    def _read(self, number: int, line: bytes) -> Document | None:
        try:
            return document_from_json(parse_json(line), field="document")
        except InputError as error:
            self._failed += 1
            if len(self._errors) < LISTED_ERRORS:
                self._errors.append({"line": number, "detail": error.message, "field": error.field})
            return None

    async def _flush(self) -> None:
        if not self._batch:
            return
        documents = list(self._batch.values())
        self._batch = {}
        self._batch_characters = 0
        await self._store(documents, await self._embed_patiently([d.text for d in documents]))

    async def _embed_patiently(self, texts: Sequence[str]) -> Embedded:
        # The sender of a stream is slowed by not reading on, which serves it better than an error
        # in the middle.
        patience_ends = time.monotonic() + self._work.timeout_seconds
        while True:
            try:
                return await self._work.embed_part(self._encoder, texts)
            except OverloadedError as error:
                if time.monotonic() > patience_ends:
                    raise
                await asyncio.sleep(min(error.retry_after_seconds, LONGEST_PAUSE_SECONDS))

    async def _store(self, documents: Sequence[Document], embedded: Embedded) -> None:
        vectors = finish(embedded.vectors, dimensions=self._corpus.dimension, normalised=True)
        counts = await self._work.run(self._corpus.upsert, documents, vectors)
        self._inserted += counts.inserted
        self._updated += counts.updated
        self._truncated += len(embedded.truncated)
        self._work.metrics.documents_written.labels(self._corpus.name).inc(len(documents))

    def _counts(self) -> dict[str, object]:
        return {
            "inserted": self._inserted,
            "updated": self._updated,
            "truncated": self._truncated,
            "failed": self._failed,
            "errors": self._errors,
        }
