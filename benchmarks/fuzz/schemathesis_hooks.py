"""What schemathesis does not know by itself: how to write JSON lines."""

from __future__ import annotations

import schemathesis  # type: ignore[import-not-found,unused-ignore]


@schemathesis.serializer("application/x-ndjson")  # type: ignore[untyped-decorator,unused-ignore]
def json_lines(_: object, value: object) -> bytes:
    """Return a value that the document says is text as a body."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
