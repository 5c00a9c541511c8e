"""Every error that the service raises on purpose.

    InterlinguaError
    ├── InputError              what was sent cannot be used as it is
    │   ├── MalformedError      the body is not what its content type promises
    │   ├── MediaTypeError      a content type that this address does not take
    │   ├── SlowClientError     the body did not come in time
    │   └── TooLargeError       a stated limit is passed
    ├── AuthenticationError     no key, or an unknown one
    ├── ForbiddenError          a key that is not good for this
    ├── NotFoundError           a name or id that is not there
    ├── ConflictError           it is there already, or does not fit what is there
    ├── OverloadedError         the queue is full; try again after a while
    │   └── RateLimitError      this key asks faster than it may
    ├── UnavailableError        loading or draining; try again elsewhere or later
    ├── DeadlineError           the request's time ran out before its work was done
    ├── BundleError             a model that cannot be trusted or served
    ├── SettingsError           a setting that cannot work
    ├── StorageError            the disk or the database refused
    └── BackendError            the model failed on an input it should have taken

Their way to HTTP statuses is one table, in `service.api.problems`.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


class _Null:
    """What JSON calls null."""

    def __repr__(self) -> str:
        return "null"


NULL = _Null()
"""Is `given` where null was: None there means that there is no value to tell."""


def as_given(value: object) -> object:
    """Return what an error is told as `given` where a client sent `value`."""
    return NULL if value is None else value


class InterlinguaError(Exception):
    """Base of all errors raised on purpose.

    Args:
        message: What is wrong, with the limit where there is one.
        field: The request's field or the setting at fault, as the caller spelt it.
        given: The offending value, shortened to what a person wants to read.
        remedy: What to do about it.

    Attributes:
        done: What of the request was done before, in numbers; None where it is done whole or not
            at all.
    """

    done: Mapping[str, int] | None = None

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        given: object = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.given = shorten(given) if given is not None else None
        self.remedy = remedy

    def __str__(self) -> str:
        parts = [self.message]
        if self.field is not None:
            parts.append(
                f"(field {self.field!r}" + (f", given {self.given})" if self.given else ")")
            )
        if self.remedy is not None:
            parts.append(self.remedy)
        return " ".join(parts)


class InputError(InterlinguaError):
    """What was sent cannot be used as it is."""


class MalformedError(InputError):
    """The body is not what its content type promises, or a required part is missing."""


class MediaTypeError(InputError):
    """The body's content type is missing, or not one that this address takes."""


class SlowClientError(InputError):
    """The client sent too little for too long."""


class TooLargeError(InputError):
    """A stated limit is passed: body bytes, number of inputs, tokens of a request."""


class AuthenticationError(InterlinguaError):
    """No key was sent where one is needed, or an unknown one."""


class ForbiddenError(InterlinguaError):
    """The key is known and has not the scope, or may not touch the corpus."""


class NotFoundError(InterlinguaError):
    """A model, corpus, document or classifier of that name is not there."""


class ConflictError(InterlinguaError):
    """It is there already, or does not fit what is there (another vector space, say)."""


class OverloadedError(InterlinguaError):
    """The queue is full.

    Args:
        message: What is full.
        retry_after_seconds: When the queue is expected to have room again.
    """

    def __init__(self, message: str, *, retry_after_seconds: float) -> None:
        # Rounded up, as in the header: 0 s would be too early.
        super().__init__(message, remedy=f"Retry after {math.ceil(retry_after_seconds)} s.")
        self.retry_after_seconds = retry_after_seconds


class RateLimitError(OverloadedError):
    """This key asks faster than it may; others are not touched."""


class UnavailableError(InterlinguaError):
    """The service is loading or draining."""


class DeadlineError(InterlinguaError):
    """The request's time ran out before its work was done."""


class BundleError(InterlinguaError):
    """A bundle whose schema, files, hashes or shapes are wrong."""


class SettingsError(InterlinguaError):
    """A setting that cannot work, alone or with another."""


class StorageError(InterlinguaError):
    """The disk or the database refused; nothing was acknowledged.

    Args:
        message: What is wrong, without the path: it is what a client is told.
        path: The file or directory at fault, which only the log and the terminal name.
        field: As for every error.
        remedy: As for every error.
    """

    def __init__(
        self,
        message: str,
        *,
        path: Path | None = None,
        field: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message, field=field, remedy=remedy)
        self.path = path

    def __str__(self) -> str:
        told = super().__str__()
        return told if self.path is None else f"{self.path}: {told}"


class BackendError(InterlinguaError):
    """The model threw, or returned numbers that are not finite."""


def unknown_name(
    kind: str, name: str, known: Iterable[str], *, nothing: str = "none"
) -> NotFoundError:
    """Return the error for a name that nothing has.

    Args:
        kind: Of what was asked for, which is the field too: "corpus", say.
        name: That was given.
        known: The names that there are.
        nothing: Is said in their place where there are none.
    """
    return NotFoundError(
        f"There is no {kind} of this name.",
        field=kind,
        given=name,
        remedy=f"There are: {', '.join(known) or nothing}.",
    )


@contextmanager
def in_field(field: str) -> Iterator[None]:
    """Have an InputError of what is done within name `field`: only the caller knows the place."""
    try:
        yield
    except InputError as error:
        error.field = field
        raise


def shorten(value: object, limit: int = 80) -> str:
    """Return `value` quoted for an error message, at most `limit` characters.

    Only as much of `value` is looked at as is shown: it may be megabytes long or nested so deep
    that `repr` would not come back.
    """
    quoting = reprlib.Repr()
    quoting.maxlevel = 3
    quoting.maxstring = quoting.maxother = limit
    text = quoting.repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
