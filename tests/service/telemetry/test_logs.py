from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from service.telemetry.logs import request_id, set_up_logs


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in ("service", "uvicorn")]
    before = [(log.handlers, log.level, log.propagate) for log in loggers]
    yield
    for log, (handlers, level, propagate) in zip(loggers, before, strict=True):
        log.handlers, log.level, log.propagate = handlers, level, propagate


def test_json_lines_carry_the_request() -> None:
    stream = io.StringIO()
    set_up_logs("info", "json", stream=stream)
    token = request_id.set("abc")
    logging.getLogger("service.access").info("POST", extra={"route": "/embed", "status": 200})
    request_id.reset(token)
    line = json.loads(stream.getvalue())
    assert (line["message"], line["route"], line["status"]) == ("POST", "/embed", 200)
    assert line["request_id"] == "abc"
    assert line["level"] == "info"


def test_plain_lines_are_short() -> None:
    stream = io.StringIO()
    set_up_logs("info", stream=stream)
    logging.getLogger("service.app").info("ready")
    assert stream.getvalue().endswith("info    service.app  ready\n")


@pytest.mark.parametrize("form", ["plain", "json"])
def test_exceptions_are_whole_and_odd_characters_do_no_harm(form: str) -> None:
    stream = io.StringIO()
    set_up_logs("info", form, stream=stream)
    try:
        raise ValueError("odd: \ud800".encode("utf-8", "backslashreplace").decode())
    except ValueError:
        logging.getLogger("service.app").exception("failed")
    assert "ValueError: odd" in stream.getvalue()


def test_the_level_is_kept() -> None:
    stream = io.StringIO()
    set_up_logs("warning", stream=stream)
    logging.getLogger("service.app").info("ready")
    assert stream.getvalue() == ""
