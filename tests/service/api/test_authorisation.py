"""The authorisation matrix: each route, each scope, a corpus of one's own and one of another's.

The table is written by hand, so that a change of a route's declaration is seen here; a route that
is not in it fails.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import orjson
import pytest
from fastapi import APIRouter, FastAPI

from service.api.auth import include_locked, routes_of, scopes_of
from service.app import LOCKED, LOCKED_BELOW_V1
from service.classification.head import HEAD_FILE, read_head, write_head
from service.classification.remembered import Remembered, RememberedExamples
from service.errors import InputError
from service.jobs.job import Job, Result
from service.security.grants import Grant, Scope, write_line
from tests.service.api.running import Running, assert_problem, run_app, tiny_settings

E, S, W, A = Scope.EMBED, Scope.SEARCH, Scope.WRITE, Scope.ADMIN
ANY = {E, S, W, A}

TEXT = {"inputs": "A cat."}
DOCUMENT = {"documents": [{"id": "1", "text": "A cat."}]}
EXAMPLES = {"examples": [{"text": t, "label": t[0]} for t in ("a b", "a c", "b d", "b e")]}


@dataclass(frozen=True, slots=True)
class Route:
    """A row: who may call it, with what; CORPUS stands for the name of a corpus."""

    scopes: set[Scope]
    body: object = None


MATRIX: dict[tuple[str, str], Route] = {
    ("POST", "/embed"): Route({E}, TEXT),
    ("POST", "/"): Route({E}, TEXT),
    ("POST", "/similarity"): Route(
        {E}, {"inputs": {"source_sentence": "a", "sentences": ["b"]}}
    ),
    ("POST", "/v1/embeddings"): Route({E}, {"input": "a", "model": "tiny"}),
    ("POST", "/embeddings"): Route({E}, {"input": "a", "model": "tiny"}),
    ("POST", "/tokenize"): Route({E}, TEXT),
    ("POST", "/decode"): Route({E}, {"ids": [1, 2]}),
    ("POST", "/classify"): Route({E}, TEXT | {"classifier": "subjects"}),
    ("POST", "/predict"): Route({E}, TEXT),
    ("POST", "/projection"): Route({E}, {"inputs": ["a", "b", "c"]}),
    ("POST", "/rerank"): Route({E}, {"query": "a", "texts": ["b", "c"]}),
    ("POST", "/v1/rerank"): Route({E}, {"query": "a", "documents": ["b", "c"], "model": "tiny"}),
    ("POST", "/v2/rerank"): Route({E}, {"query": "a", "documents": ["b", "c"], "model": "tiny"}),
    ("GET", "/models"): Route(ANY),
    ("GET", "/info"): Route(ANY),
    ("GET", "/v1/models"): Route(ANY),
    ("GET", "/v1/models/{name}"): Route(ANY),
    ("GET", "/classifiers"): Route({E}),
    ("GET", "/classifiers/{name}"): Route({E}),
    ("PUT", "/classifiers/{name}"): Route({W}, EXAMPLES),
    ("DELETE", "/classifiers/{name}"): Route({A}),
    ("POST", "/classifiers/{name}/versions/{version}/activate"): Route({A}),
    ("DELETE", "/classifiers/{name}/versions/{version}"): Route({A}),
    ("GET", "/jobs"): Route({W, A}),
    ("GET", "/jobs/{id}"): Route({W, A}),
    ("DELETE", "/jobs/{id}"): Route({W, A}),
    ("GET", "/corpora"): Route({S, W, A}),
    ("PUT", "/corpora/{name}"): Route({A}, {}),
    ("GET", "/corpora/{name}"): Route({S, W, A}),
    ("POST", "/corpora/{name}/documents"): Route({W}, DOCUMENT),
    ("GET", "/corpora/{name}/documents"): Route({S}),
    ("GET", "/corpora/{name}/documents/{id:path}"): Route({S}),
    ("DELETE", "/corpora/{name}/documents/{id:path}"): Route({W}),
    ("DELETE", "/corpora/{name}/documents"): Route({W}, {"ids": ["2"]}),
    ("GET", "/corpora/{name}/export"): Route({S}),
    ("POST", "/corpora/{name}/reencode"): Route({A}, {"model": "tiny"}),
    ("POST", "/similar"): Route({S}, {"inputs": "a", "corpus": "CORPUS"}),
    ("GET", "/similar"): Route({S}),
    ("DELETE", "/corpora/{name}"): Route({A}),
}  # fmt: skip

FIT_ON = {"corpus": {"name": "CORPUS", "label_field": "topic"}}
TOUCHES_CORPUS = {key for key in MATRIX if "/corpora/{name}" in key[1] or key[1] == "/similar"}


def key_for(scope: Scope | None) -> str:
    return f"key-{scope}"


READERS = {
    "reader": Grant("reader", frozenset({E, S, W}), ("mine", "team-*")),
    "librarian": Grant("librarian", frozenset({E, S, W})),
}
"""Keys for what needs several scopes; the second may read every corpus."""


@pytest.fixture
def old_head(tiny_head: Path, tmp_path: Path) -> Path:
    """A head that keeps examples, of a build that did not write down whose they are."""
    head = read_head(tiny_head)
    kept = RememberedExamples(
        [Remembered("A cat.", ("animals",), "en")],
        np.ones((1, head.manifest.dimension), dtype=np.float16),
    )
    manifest = head.manifest.model_copy(update={"name": "old"})
    weights = {"weights": head.weights, "bias": head.bias}
    write_head(tmp_path / "old", manifest, **weights, examples=kept.to_bytes())
    file = tmp_path / "old" / HEAD_FILE
    written = orjson.loads(file.read_bytes())
    assert written.pop("examples_from") is None
    file.write_bytes(orjson.dumps(written))
    return tmp_path / "old"


@pytest.fixture
async def running(
    tiny_bundle: Path, tiny_head: Path, old_head: Path, tmp_path: Path
) -> AsyncIterator[Running]:
    lines = [
        write_line(key_for(scope), Grant(str(scope), frozenset({scope}), ("mine", "team-*")))
        for scope in Scope
    ]
    lines += [write_line(key, grant) for key, grant in READERS.items()]
    file = tmp_path / "keys"
    file.write_text("\n".join([*lines, "everything"]))
    heads = [tiny_head, old_head]
    settings = tiny_settings(tiny_bundle, tmp_path / "data", head=heads, api_keys_file=file)
    async with run_app(settings) as running:
        running.client.headers["authorization"] = "Bearer everything"
        for corpus in ("mine", "theirs"):
            await running.fill(corpus)
        yield running


async def call(
    running: Running, method: str, path: str, *, scope: Scope, corpus: str, body: object = None
) -> httpx.Response:
    for name, value in (("{name}", corpus), ("{version}", "1"), ("{id:path}", "1"), ("{id}", "x")):
        path = path.replace(name, value)
    if isinstance(body, dict) and body.get("corpus") == "CORPUS":
        body = body | {"corpus": corpus}
    return await running.client.request(
        method,
        path,
        params={"corpus": corpus, "q": "a"} if (method, path) == ("GET", "/similar") else None,
        json=body,
        headers={"authorization": f"Bearer {key_for(scope)}"},
    )


def test_the_table_has_every_route() -> None:
    routes = {
        (method, route.path): set(scopes_of(route))
        for router in (*LOCKED, *LOCKED_BELOW_V1)
        for route in routes_of(router)
        for method in route.methods or ()
    }
    assert routes == {key: row.scopes for key, row in MATRIX.items()}


@pytest.mark.parametrize(("scope", "corpus"), list(itertools.product(Scope, ("mine", "theirs"))))
async def test_each_cell(running: Running, scope: Scope, corpus: str) -> None:
    wrong = []
    for (method, path), row in MATRIX.items():
        response = await call(running, method, path, scope=scope, corpus=corpus, body=row.body)
        forbidden = scope not in row.scopes or (
            corpus == "theirs" and (method, path) in TOUCHES_CORPUS
        )
        status = response.status_code
        if (status == 403) != forbidden or status == 401 or status >= 500:
            wrong.append(f"{method} {path}: {status}, forbidden: {forbidden}")
        elif not forbidden and status >= 400 and status != 404:
            wrong.append(f"{method} {path}: {status} {response.text}")
    assert wrong == []
    if corpus == "theirs":
        response = await running.client.get("/corpora/theirs")
        assert response.json()["documents"] == 5, "nothing of another's was touched"


async def test_lists_hold_what_one_may_touch(running: Running) -> None:
    async def names(key: str) -> list[str]:
        header = {"authorization": f"Bearer {key}"}
        found = (await running.client.get("/corpora", headers=header)).json()["corpora"]
        return [corpus["name"] for corpus in found]

    assert await names("everything") == ["mine", "theirs"]
    assert await names(key_for(Scope.SEARCH)) == ["mine"]


async def test_what_a_key_for_some_makes_is_made_as_by_any_other(running: Running) -> None:
    header = {"authorization": f"Bearer {key_for(A)}"}
    made = (await running.client.put("/corpora/team-new", headers=header)).json()
    others = (await running.client.get("/corpora/mine")).json()
    varying = ("name", "created", "bytes", "documents", "languages")
    assert {k: v for k, v in made.items() if k not in varying} == {
        k: v for k, v in others.items() if k not in varying
    }


async def test_whether_anothers_corpus_is_there_is_not_told(running: Running) -> None:
    answers = []
    for corpus in ("theirs", "nowhere"):
        response = await call(running, "GET", "/corpora/{name}", scope=S, corpus=corpus)
        problem = assert_problem(response, 403, field="corpus")
        answers.append({k: v for k, v in problem.items() if k not in ("request_id", "given")})
    assert answers[0] == answers[1]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_a_name_that_is_not_there_is_told_beside_ones_own_alone(
    running: Running, method: str
) -> None:
    header = {"authorization": f"Bearer {key_for(A)}"}
    await running.client.delete("/corpora/mine")
    response = await running.client.request(method, "/corpora/mine", headers=header)
    assert assert_problem(response, 404)["remedy"] == "There are: none yet."


async def test_a_search_in_a_corpus_that_is_not_there_names_ones_own(running: Running) -> None:
    header = {"authorization": "Bearer reader"}
    response = await running.client.post(
        "/similar", json=TEXT | {"corpus": "team-x"}, headers=header
    )
    assert assert_problem(response, 404)["remedy"] == "There are: mine."


async def test_a_search_without_a_corpus_takes_none_of_anothers(running: Running) -> None:
    header = {"authorization": f"Bearer {key_for(S)}"}
    response = await running.client.post("/similar", json=TEXT, headers=header)
    assert response.status_code == 200, "of the two corpora one is theirs, so it is meant"


async def test_a_fit_on_a_corpus_needs_the_right_to_read_it(running: Running) -> None:
    for scope, corpus in ((W, "mine"), (W, "theirs")):
        body = {"corpus": FIT_ON["corpus"] | {"name": corpus}}
        path = "/classifiers/{name}"
        response = await call(running, "PUT", path, scope=scope, corpus="fitted", body=body)
        assert_problem(response, 403)


SHOWN = {
    key_for(E): {"sent"},
    "reader": {"sent", "on-mine"},
    "librarian": {"sent", "on-mine", "on-theirs", "old"},
    "everything": {"sent", "on-mine", "on-theirs", "old"},
}
"""The classifiers whose examples a key is shown."""


async def test_explanations_quote_no_corpus_that_one_may_not_read(running: Running) -> None:
    for name, body in {
        "sent": EXAMPLES,
        "on-mine": {"corpus": FIT_ON["corpus"] | {"name": "mine"}},
        "on-theirs": {"corpus": FIT_ON["corpus"] | {"name": "theirs"}},
    }.items():
        fit = await running.client.put(f"/classifiers/{name}", json=body, params={"wait": "true"})
        assert fit.json()["state"] == "succeeded", fit.text
    for key, expected in SHOWN.items():
        shown = set()
        for name in SHOWN["everything"]:
            response = await running.client.post(
                "/classify",
                json=TEXT | {"classifier": name, "explain": True},
                headers={"authorization": f"Bearer {key}"},
            )
            (one,) = response.json()
            assert one["explanation"]["parts"]
            if one["explanation"]["examples"]:
                shown.add(name)
        assert shown == expected, key


async def error_seen(running: Running, id: str, key: str) -> dict[str, object]:
    """Return the error of a failed job as a key sees it, the same wherever it is told."""
    header = {"authorization": f"Bearer {key}"}
    one = (await running.client.get(f"/jobs/{id}", headers=header)).json()
    every = (await running.client.get("/jobs", headers=header)).json()["jobs"]
    assert one in every
    error: dict[str, object] = one["error"]
    return error


@pytest.mark.parametrize("corpus", ["mine", "theirs"])
async def test_failed_fits_quote_no_corpus_that_one_may_not_read(
    running: Running, corpus: str
) -> None:
    secret = {"id": "s", "text": "A secret.", "metadata": {"secret": ["hush", "hush, hush"]}}
    stored = await running.client.post(f"/corpora/{corpus}/documents", json={"documents": [secret]})
    assert stored.status_code == 200
    body = {"corpus": {"name": corpus, "label_field": "secret"}}
    begun = await running.client.put("/classifiers/c", json=body, params={"wait": "true"})
    whole = begun.json()["error"]
    assert "hush" in whole["given"]
    for key in ("everything", "librarian", *(["reader"] if corpus == "mine" else [])):
        assert await error_seen(running, begun.json()["id"], key) == whole
    for key in (key_for(W), key_for(A), *(["reader"] if corpus == "theirs" else [])):
        error = await error_seen(running, begun.json()["id"], key)
        assert error == {name: whole[name] for name in ("type", "title", "status")}


async def test_what_was_sent_for_a_fit_is_quoted_to_its_sender_alone(running: Running) -> None:
    def task(job: Job) -> Result:
        raise InputError("No.", field="text", given="A secret.")

    job = running.state.resources.jobs.submit("fit", "c", task, client=str(W))
    job.wait(10)
    assert (await error_seen(running, job.status.id, key_for(W)))["given"] == "'A secret.'"
    for key in (key_for(A), "librarian", "everything"):
        assert "secret" not in str(await error_seen(running, job.status.id, key))


async def test_jobs_on_anothers_corpus_are_not_seen(running: Running) -> None:
    begun = await running.client.post(
        "/corpora/theirs/reencode", json={"model": "tiny"}, params={"wait": "true"}
    )
    job = begun.json()["id"]
    header = {"authorization": f"Bearer {key_for(A)}"}
    assert (await running.client.get("/jobs", headers=header)).json()["jobs"] == []
    for method in ("GET", "DELETE"):
        response = await running.client.request(method, f"/jobs/{job}", headers=header)
        assert_problem(response, 404)
    assert (await running.client.get(f"/jobs/{job}")).status_code == 200


async def test_refusals_are_counted_by_reason(running: Running) -> None:
    await call(running, "POST", "/embed", scope=S, corpus="mine", body=TEXT)
    assert await running.metric("interlingua_rejected_total", reason="forbidden") == 1


async def test_openais_clients_learn_of_it_in_their_shape(running: Running) -> None:
    body = MATRIX["POST", "/v1/embeddings"].body
    response = await call(running, "POST", "/v1/embeddings", scope=S, corpus="mine", body=body)
    assert response.status_code == 403
    assert response.json()["error"]["type"] == "permission_error"


def test_a_route_that_declares_nothing_keeps_the_service_from_starting() -> None:
    router = APIRouter(prefix="/some")

    @router.get("/forgotten")
    async def forgotten() -> None:
        """Do nothing."""

    with pytest.raises(RuntimeError, match="/some/forgotten declares no scope"):
        include_locked(FastAPI(), router, responses={})


async def test_a_key_with_a_rate_is_slowed_and_others_are_not(
    tiny_bundle: Path, tmp_path: Path
) -> None:
    file = tmp_path / "keys"
    file.write_text("slow rate=3\nother\n")
    settings = tiny_settings(tiny_bundle, tmp_path / "data", api_keys_file=file)
    async with run_app(settings) as running:
        statuses = []
        for _ in range(6):
            header = {"authorization": "Bearer slow"}
            response = await running.client.get("/models", headers=header)
            statuses.append(response.status_code)
        assert statuses == [200, 200, 200, 429, 429, 429]
        problem = assert_problem(response, 429)
        assert str(problem["type"]).endswith(":rate-limited")
        assert int(response.headers["retry-after"]) >= 1
        assert await running.metric("interlingua_rejected_total", reason="rate-limited") == 3
        header = {"authorization": "Bearer other"}
        assert (await running.client.get("/models", headers=header)).status_code == 200
