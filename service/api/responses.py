"""Answers as JSON, straight from NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterable

import orjson
from starlette.responses import Response


def to_json(content: object) -> bytes:
    """Return the bytes of `content`, which may hold float32 arrays."""
    return orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY)


class Json(Response):
    """A JSON answer; float32 arrays in it are written without going through Python floats.

    A response model of pydantic would cost more time than the encoder does, so the routes declare
    their models for the documentation only and answer with this.
    """

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """Return the bytes of `content`."""
        return to_json(content)


class JsonRows(Json):
    """A list as JSON, its rows made and written one by one.

    orjson holds Python's lock for as long as a call takes: of tens of megabytes in one call the
    event loop hears nothing meanwhile, whichever thread they are written on.
    """

    def render(self, content: object) -> bytes:
        """Return the bytes of `content`, which is iterated once."""
        assert isinstance(content, Iterable), "a list has rows; this is a bug"
        written = Json.render
        return b"[" + b",".join([written(self, row) for row in content]) + b"]"
