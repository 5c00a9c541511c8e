"""Logs: one line an event, each with its request's id; never a text that a user sent."""

from __future__ import annotations

import json
import logging
import sys
import time
from contextvars import ContextVar
from typing import TextIO

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request that this task or thread works for."""

trace_id: ContextVar[str | None] = ContextVar("trace_id", default=None)
"""The trace that this request is a part of, where traces are made."""

_OWN_FIELDS = ("method", "route", "status", "seconds", "client")
"""What `extra=` of our log calls may carry; everything else stays out of the lines."""


class RequestIdFilter(logging.Filter):
    """Puts the request's id on each record."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, named."""
        record.request_id = request_id.get()
        record.trace_id = trace_id.get()
        return True


class PlainFormatter(logging.Formatter):
    """`12:00:01 info  service.app  ready  [request id]`, for people."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        line = f"{clock} {record.levelname.lower():7} {record.name}  {record.getMessage()}"
        fields = [f"{n}={_brief(getattr(record, n))}" for n in _OWN_FIELDS if hasattr(record, n)]
        identity = getattr(record, "request_id", None)
        line = "  ".join([line, *fields, *([f"[{identity}]"] if identity else [])])
        return line + ("\n" + self.formatException(record.exc_info) if record.exc_info else "")


class JsonFormatter(logging.Formatter):
    """One JSON object a line, for machines."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        entry: dict[str, object] = {
            "time": record.created,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        for name in ("request_id", "trace_id", *_OWN_FIELDS):
            value = getattr(record, name, None)
            if value is not None:
                entry[name] = value
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


def set_up_logs(
    level: str, form: str = "plain", *, stream: TextIO | None = None
) -> logging.Handler:
    """Send the logs of the service and of uvicorn to `stream`, standard error by default.

    Args:
        level: The least severity that is written: debug, info, warning or error.
        form: `plain` for people, `json` for machines.
        stream: Where to.

    Returns:
        The handler, so that whoever set it up can take it away again.
    """
    # What no line of ours has is not found out for each of them: the caller's file and line, the
    # thread, the process (Python's logging HOWTO, "Optimization").
    logging._srcfile = None
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else PlainFormatter())
    handler.addFilter(RequestIdFilter())
    for name in ("service", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False
    return handler


def _brief(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
