from __future__ import annotations

import inspect

import pytest

from service import errors
from service.api.problems import KINDS, TYPE_PREFIX, kind_of, problem_response
from tests.service.api.running import Running, assert_problem

DOCUMENTED = {400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 503, 504}


def all_errors() -> list[type[errors.InterlinguaError]]:
    return [
        member
        for _, member in inspect.getmembers(errors, inspect.isclass)
        if issubclass(member, errors.InterlinguaError)
    ]


@pytest.mark.parametrize("error", all_errors())
def test_every_error_has_a_row(error: type[Exception]) -> None:
    kind = kind_of(error)
    # Settings are read at the start, and nobody raises the base itself.
    assert kind is not KINDS[Exception] or error in (errors.InterlinguaError, errors.SettingsError)
    assert kind.status in DOCUMENTED
    assert kind.title


def test_slugs_are_distinct() -> None:
    slugs = [kind.slug for kind in KINDS.values()]
    assert len(slugs) == len(set(slugs))


def test_a_problem_says_field_value_and_remedy() -> None:
    error = errors.InputError("No.", field="k", given=0, remedy="Send 1.")
    response = problem_response(error, {"type": "http", "path": "/similar"})
    assert response.status_code == 422
    assert (
        response.body
        == (
            f'{{"type":"{TYPE_PREFIX}invalid-input","title":"A value cannot be used","status":422,'
            '"detail":"No.","field":"k","given":"0","remedy":"Send 1."}'
        ).encode()
    )


def test_what_no_utf8_can_carry_is_written_as_json_escapes() -> None:
    error = errors.InputError("Half: \ud800.")
    response = problem_response(error, {"type": "http", "path": "/"})
    assert b"Half: \\ud800." in response.body


def test_retry_after_is_whole_seconds_rounded_up() -> None:
    error = errors.OverloadedError("Full.", retry_after_seconds=1.2)
    response = problem_response(error, {"type": "http", "path": "/embed"})
    assert response.headers["retry-after"] == "2"
    assert b"Retry after 2 s." in response.body
    soon = errors.RateLimitError("Too fast.", retry_after_seconds=0.02)
    assert soon.remedy == "Retry after 1 s."


async def test_unknown_addresses_and_methods(running: Running) -> None:
    assert_problem(await running.client.get("/nothing"), 404)
    wrong = await running.client.put("/embed")
    assert_problem(wrong, 405)
    assert "POST" in wrong.headers["allow"]


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/corpora/a", "DELETE, GET, HEAD, PUT"),
        ("/corpora/a/documents", "DELETE, GET, HEAD, POST"),
        ("/corpora/a/documents/b/c", "DELETE, GET, HEAD"),
        ("/similar", "GET, HEAD, POST"),
        ("/", "GET, HEAD, POST"),
        ("/health/live", "GET, HEAD"),
        ("/docs", "GET, HEAD"),
    ],
)
async def test_all_methods_of_an_address_are_named(
    running: Running, path: str, methods: str
) -> None:
    response = await running.client.patch(path)
    assert assert_problem(response, 405)["remedy"] == f"It takes {methods}."
    assert response.headers["allow"] == methods


async def test_a_wrong_method_has_no_document_made(running: Running) -> None:
    """It takes half a second of the event loop, which all other requests would wait for."""
    running.app.openapi_schema = None
    await running.client.patch("/similar")
    assert running.app.openapi_schema is None
