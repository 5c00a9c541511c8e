"""How documents are split and pooled: fields that /embed, /similar and /classify share."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from service.api.schemas.parts import Request
from service.inference.documents import DocumentOptions


class DocumentFields(Request):
    """Whether texts are documents, and what is done to them then."""

    document: bool | None = Field(
        None,
        description="Whether each text is a document: split into pieces whose vectors are pooled "
        "into one, so that nothing of a long text is cut",
    )
    splitting: Literal["sentences", "windows"] = Field(
        "sentences", description="Pieces of a document: its sentences, or windows of words"
    )
    pooling: Literal["mean", "max"] = Field(
        "mean", description="Of the pieces' vectors: their mean, or the greatest of each number"
    )
    window_words: int = Field(128, ge=1, description="Words of a window")
    stride_words: int = Field(64, ge=1, description="Words from one window's begin to the next's")

    @property
    def document_options(self) -> DocumentOptions | None:
        """How to split and pool; None where each text is taken as one."""
        if not self.document:
            return None
        return DocumentOptions(
            splitting=self.splitting,
            pooling=self.pooling,
            window_words=self.window_words,
            stride_words=self.stride_words,
        )
