"""Read a request's body: one JSON object, or a stream of JSON lines."""

from __future__ import annotations

import codecs
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TypeVar

import orjson
from fastapi import Request
from pydantic import BaseModel, ValidationError

from service.api.schemas.parts import DECODE
from service.api.state import state_of
from service.api.token_input import decoder_for
from service.api.validation import explain
from service.errors import MalformedError, MediaTypeError, TooLargeError

MAX_DEPTH = 64
"""Of lists and objects in a body; a filter, the deepest of what is sent, nests 16 at most."""

NDJSON = ("application/x-ndjson", "application/ndjson", "application/jsonl")

Model = TypeVar("Model", bound=BaseModel)


def media_type(request: Request) -> str:
    """Return the content type without its parameters; empty where none was sent."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def json_body(model: type[Model], *, optional: bool = False) -> Callable[..., Awaitable[Model]]:
    """Return a dependency that reads the body as `model`.

    FastAPI's own reading is left out: it parses with the standard library before the API key was
    looked at, and it hides which limit a body broke.

    Args:
        model: What the JSON must be.
        optional: Whether no body at all means a `model` of defaults.
    """

    async def read(request: Request) -> Model:
        body = await _whole_body(request, optional=optional)
        if not body and optional:
            return model()
        value = parse_json(body)
        if not isinstance(value, dict):
            raise MalformedError(
                "The body must be a JSON object.", given=value, remedy=_example(model)
            )
        try:
            return model.model_validate(value, context=_context(request))
        except ValidationError as error:
            raise explain(error.errors(include_url=False), model) from None

    return read


def _context(request: Request) -> dict[str, object] | None:
    state = state_of(request.app)
    setting = state.settings.token_input
    if setting == "reject":
        return None
    return {DECODE: decoder_for(setting, state.resources.default_encoder)}


async def _whole_body(request: Request, *, optional: bool) -> bytes:
    kind = media_type(request)
    # A browser sends other content types across sites without asking first, so taking them would
    # let any page write to a service on its reader's machine.
    if kind != "application/json" and not kind.endswith("+json"):
        body = await request.body() if optional and not kind else b""
        if body or not optional or kind:
            raise MediaTypeError(
                "The body must be JSON, and say so.",
                field="content-type",
                given=kind or None,
                remedy="Send the header content-type: application/json.",
            )
    _check_coding(request)
    return await request.body()


def _check_coding(request: Request) -> None:
    """Refuse a compressed body, which would be read as broken JSON."""
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding != "identity":
        raise MediaTypeError(
            "The body must not be compressed.",
            field="content-encoding",
            given=coding,
            remedy="Send it as it is, without the header content-encoding.",
        )


def parse_json(text: bytes, *, name: str = "body") -> object:
    """Return the value of a JSON text.

    Args:
        text: What was sent.
        name: Of it, for errors: the body, or a part of the request.

    Raises:
        MalformedError: Not JSON, not UTF-8, nested deeper than 64, a number that no double
            holds, or half of a surrogate pair, which no UTF-8 can carry.
    """
    try:
        value: object = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        reason = str(error)
        remedy = "Write it with a JSON library, as UTF-8."
        if "not valid UTF-8" in reason:  # speaks of surrogates too, whatever is wrong
            reason = _not_utf8(text)
        elif "surrogate" in reason:
            remedy = "Send both halves of a surrogate pair, or the character itself, as UTF-8."
        excerpt = error.doc[max(0, error.pos - 20) : error.pos + 20] or None
        raise MalformedError(
            f"The {name} is no JSON: {reason}.", field=name, given=excerpt, remedy=remedy
        ) from None
    check_depth(value, text, name=name)
    return value


def _not_utf8(text: bytes) -> str:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return f"byte {text[error.start]:#04x} at {error.start} is not UTF-8"
    return "it is not UTF-8"


def check_depth(value: object, text: bytes, *, name: str = "body") -> None:
    """Raise MalformedError where `value`, parsed from `text`, nests deeper than `MAX_DEPTH`.

    No body of ours does, and what walks over one need not fear for its stack. The parser itself
    does not recurse, and stops at 1,024.
    """
    if text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
        return
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for parent in level
            for child in _children(parent)
            if isinstance(child, list | dict)
        ]
        if not level:
            return
    raise MalformedError(
        f"The {name} nests deeper than {MAX_DEPTH}.", field=name, remedy="Send it flatter."
    )


def _children(parent: object) -> Iterable[object]:
    if isinstance(parent, dict):
        return parent.values()
    # Most lists are of texts or numbers, by the thousand: their types are looked at all at once.
    return parent if isinstance(parent, list) and {list, dict} & set(map(type, parent)) else ()


async def lines(request: Request, *, limit_bytes: int) -> AsyncIterator[tuple[int, bytes]]:
    """Yield (number from 1, line) of a body as it comes; blank lines are counted, not given.

    No more than one line and one chunk of the network are held.

    Raises:
        MediaTypeError: It is compressed.
        TooLargeError: A line longer than `limit_bytes`.
    """
    _check_coding(request)
    number, rest = 0, b""
    async for chunk in request.stream():
        *whole, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else (rest + chunk,)
        for line in whole:
            number += 1
            _check_line(number, line, limit_bytes)
            text = _without_mark(number, line)
            if text.strip():
                yield number, text
        _check_line(number + 1, rest, limit_bytes)
    text = _without_mark(number + 1, rest)
    if text.strip():
        yield number + 1, text


def _without_mark(number: int, line: bytes) -> bytes:
    """Return `line` without the byte order mark that some editors and exports begin a file with."""
    return line.removeprefix(codecs.BOM_UTF8) if number == 1 else line


def _check_line(number: int, line: bytes, limit_bytes: int) -> None:
    if len(line) > limit_bytes:
        raise TooLargeError(
            f"Line {number} is longer than {limit_bytes} bytes.",
            field=f"line {number}",
            remedy="Write each document on a line of its own, ended by a line feed.",
        )


def _example(model: type[BaseModel]) -> str:
    extra = model.model_config.get("json_schema_extra")
    examples = extra.get("examples") if isinstance(extra, dict) else None
    if not isinstance(examples, list):
        return "GET /docs shows the request with an example."
    return f"For example: {orjson.dumps(examples[0]).decode()}"
