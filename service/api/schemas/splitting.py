"""How documents are split and pooled: fields that /embed, /similar and /classify share."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from service.api.schemas.parts import Request
from service.errors import InputError
from service.inference.documents import DocumentOptions

MAX_PIECES = 65_536
"""Of all documents of a request: what the largest body of prose has, at 120 characters each."""
MAX_WINDOW_WORDS = 8192
STRIDE_WORDS = 64
MOST_WINDOWS_A_WORD = 16
"""A word is computed once for each window it is in: a few bytes must not ask for hours of that."""


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
    window_words: int = Field(
        128, ge=1, le=MAX_WINDOW_WORDS, description=f"Words of a window, 1 to {MAX_WINDOW_WORDS}"
    )
    stride_words: int | None = Field(
        None, ge=1,
        description="Words from one window's begin to the next's; a window has at most "
        f"{MOST_WINDOWS_A_WORD} times as many. {STRIDE_WORDS} if left out, or as near to it as "
        "the window allows",
    )  # fmt: skip

    @model_validator(mode="after")
    def _bounded_overlap(self) -> Self:
        most = MOST_WINDOWS_A_WORD
        stride = self._stride
        windows = self.document and self.splitting == "windows"
        if windows and self.window_words > most * stride:
            raise InputError(
                f"Windows may overlap so far that each word is in {most} of them; "
                f"{self.window_words} words every {stride} are more.",
                field="stride_words",
                given=stride,
                remedy=f"Send {-(-self.window_words // most)} or more, or a narrower window.",
            )
        return self

    @property
    def _stride(self) -> int:
        if self.stride_words is not None:
            return self.stride_words
        least = -(-self.window_words // MOST_WINDOWS_A_WORD)
        return min(max(STRIDE_WORDS, least), self.window_words)

    @property
    def document_options(self) -> DocumentOptions | None:
        """How to split and pool; None where each text is taken as one."""
        if not self.document:
            return None
        return DocumentOptions(
            splitting=self.splitting,
            pooling=self.pooling,
            window_words=self.window_words,
            stride_words=self._stride,
        )
