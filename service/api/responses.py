"""Answers as JSON, straight from NumPy arrays."""

from __future__ import annotations

import orjson
from starlette.responses import Response


class Json(Response):
    """A JSON answer; float32 arrays in it are written without going through Python floats.

    A response model of pydantic would cost more time than the encoder does, so the routes declare
    their models for the documentation only and answer with this.
    """

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """Return the bytes of `content`."""
        return orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY)
