"""What goes the short way is answered, refused, counted and logged as on the ordinary one."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr

from service.app import create_app
from service.errors import BackendError, OverloadedError
from service.express.lane import UNUSUAL
from service.express.shapes import SHAPES
from service.inference.session import Session, Vectors
from service.telemetry.logs import RequestIdFilter
from service.telemetry.traces import Traces
from service.text.tokenizer import Inputs
from tests.service.api.running import Gate, tiny_settings
from tests.service.express.serving import Served, serve
from tests.tiny_bundle import SENTENCES

TEXT = next(iter(SENTENCES))
OF_THE_REQUEST = {"x-request-id", "x-total-time", "x-compute-time", "x-tokenization-time",
                  "x-queue-time", "x-inference-time", "server-timing", "date"}  # fmt: skip
"""Headers that two equal requests do not share the values of."""


@pytest.fixture
async def both(tiny_bundle: Path, tmp_path: Path) -> AsyncIterator[tuple[Served, Served]]:
    """A server with the short way, and one without."""
    async with (
        serve(tiny_settings(tiny_bundle, tmp_path / "a")) as short,
        serve(tiny_settings(tiny_bundle, tmp_path / "b"), short=False) as ordinary,
    ):
        yield short, ordinary


@pytest.fixture
async def served(tiny_bundle: Path, tmp_path: Path) -> AsyncIterator[Served]:
    async with serve(tiny_settings(tiny_bundle, tmp_path)) as server:
        yield server


def without_what_differs(response: httpx.Response) -> tuple[int, dict[str, str], object]:
    body: object
    headers = {n: v for n, v in response.headers.items() if n not in OF_THE_REQUEST}
    assert OF_THE_REQUEST & response.headers.keys(), "a request is told what it took"
    body = response.content
    if "json" in response.headers["content-type"]:
        body = response.json()
    if isinstance(body, dict):
        body.pop("request_id", None)
    headers.pop("content-length")  # an error repeats its request's id
    return response.status_code, headers, body


async def assert_same(
    both: tuple[Served, Served], path: str, *, taken: bool | None, **what: object
) -> httpx.Response:
    """Ask both servers; check that they say the same, and whether the short way was taken."""
    short, ordinary = both
    short.lane.taken.clear()
    answer = await short.ask("POST", path, **what)
    other = await ordinary.ask("POST", path, **what)
    assert without_what_differs(answer) == without_what_differs(other)
    if taken is not None:
        assert (short.lane.taken == [True]) == taken, answer.text
    return answer


PLAIN: list[tuple[str, dict[str, object]]] = [
    ("/embed", {"inputs": TEXT}),
    ("/embed", {"inputs": [TEXT, "a b"]}),
    ("/embed", {"inputs": ""}),
    ("/embed", {"inputs": TEXT, "normalize": False, "truncate": None, "model": "tiny"}),
    ("/embed", {"inputs": TEXT, "dimensions": 4, "truncate": True}),
    ("/embed", {"inputs": "long " * 150}),
    ("/v1/embeddings", {"input": TEXT, "model": "text-embedding-3-small"}),
    ("/v1/embeddings", {"input": [TEXT], "encoding_format": "base64", "user": "me"}),
    ("/v1/embeddings", {"input": TEXT, "model": "tiny", "dimensions": 3}),
]

OTHERS: list[tuple[str, object]] = [
    ("/embed", {"inputs": []}),
    ("/embed", {"inputs": [TEXT, 3]}),
    ("/embed", {"inputs": TEXT, "dimensions": 0}),
    ("/embed", {"inputs": TEXT, "dimensions": True}),
    ("/embed", {"inputs": TEXT, "dimensions": 10_000}),
    ("/embed", {"inputs": TEXT, "model": "none of this name"}),
    ("/embed", {"inputs": TEXT, "precision": "int8"}),
    ("/embed", {"inputs": TEXT, "prompt_name": "none"}),
    ("/embed", {"inputs": TEXT, "unknown": 1}),
    ("/embed", {"texts": TEXT}),
    ("/embed", [TEXT]),
    ("/embed", {"inputs": ["a"] * 70}),
    ("/v1/embeddings", {"input": [1, 2, 3]}),
    ("/v1/embeddings", {"input": TEXT, "encoding_format": "hex"}),
    ("/v1/embeddings", {"input": TEXT, "user": 3}),
    ("/v1/embeddings", {}),
]


@pytest.mark.parametrize(("path", "body"), PLAIN)
async def test_a_plain_request_is_answered_as_ever(
    both: tuple[Served, Served], path: str, body: dict[str, object]
) -> None:
    answer = await assert_same(both, path, taken=True, json=body)
    assert answer.status_code == 200


@pytest.mark.parametrize(("path", "body"), OTHERS)
async def test_any_other_takes_the_ordinary_way(
    both: tuple[Served, Served], path: str, body: object
) -> None:
    await assert_same(both, path, taken=False, json=body)


@pytest.mark.parametrize(
    "headers",
    [
        {"accept": "application/octet-stream"},
        {"x-request-timeout": "1e-9"},
        {"x-request-timeout": "soon"},
        {"origin": "https://elsewhere.example"},
        {"sec-fetch-site": "cross-site"},
        {"host": "elsewhere.example"},
        {"content-type": "text/plain"},
        {"content-encoding": "gzip"},
        {"connection": "close"},
    ],
)
async def test_so_does_what_its_headers_make_unusual(
    both: tuple[Served, Served], headers: dict[str, str]
) -> None:
    body = json.dumps({"inputs": TEXT}).encode()
    sent = {"content-type": "application/json"} | headers
    await assert_same(both, "/embed", taken=False, content=body, headers=sent)


@pytest.mark.parametrize("content", [b"", b"{", b'{"inputs": "\xff"}', b'{"inputs": "\\ud800"}'])
async def test_a_broken_body_is_told_as_ever(both: tuple[Served, Served], content: bytes) -> None:
    sent = {"content-type": "application/json"}
    answer = await assert_same(both, "/embed", taken=False, content=content, headers=sent)
    assert answer.status_code == 400


values = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 20), st.floats(), st.text(max_size=20),
    st.lists(st.one_of(st.text(max_size=8), st.integers(0, 9)), max_size=3),
)  # fmt: skip
fields = st.sampled_from(
    ["inputs", "input", "model", "normalize", "truncate", "dimensions", "encoding_format", "user",
     "language", "truncation_direction"]
)  # fmt: skip


@given(path=st.sampled_from(["/embed", "/v1/embeddings"]), body=st.dictionaries(fields, values))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_whatever_is_sent_both_ways_agree(
    both: tuple[Served, Served], path: str, body: dict[str, object]
) -> None:
    sent = json.dumps(body).encode("utf-8", "surrogatepass")
    headers = {"content-type": "application/json"}
    await assert_same(both, path, taken=None, content=sent, headers=headers)


def test_every_header_that_the_routes_read_is_unusual() -> None:
    paths = create_app(tiny_settings(Path("none"), Path("none"))).openapi()["paths"]
    for path in SHAPES:
        for parameter in paths[path.decode()]["post"].get("parameters", []):
            assert parameter["in"] == "header"
            assert parameter["name"].encode() in UNUSUAL


async def test_its_id_is_the_clients(served: Served) -> None:
    answer = await served.ask(
        "POST", "/embed", json={"inputs": TEXT}, headers={"x-request-id": "mine"}
    )
    assert answer.headers["x-request-id"] == "mine"
    assert served.lane.taken == [True]


async def samples(served: Served) -> dict[tuple[str, str], float]:
    page = (await served.ask("GET", "/metrics")).text
    return {
        (sample.name, str(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name.endswith(("_total", "_count")) and "/metrics" not in str(sample.labels)
        and sample.name.startswith("interlingua_")
    }  # fmt: skip


async def test_it_is_counted_and_logged_as_ever(
    tiny_bundle: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="service.access")
    counted, logged = [], []
    for short in (True, False):
        settings = tiny_settings(tiny_bundle, tmp_path / str(short))
        async with serve(settings, short=short) as served:
            caplog.clear()
            for path, body in PLAIN:
                await served.ask("POST", path, json=body)
            logged.append(
                [(r.getMessage(), r.__dict__["route"], r.__dict__["status"])
                 for r in caplog.records if r.name == "service.access"]
            )  # fmt: skip
            counted.append(await samples(served))
            assert served.state.metrics.inflight._value.get() == 0
    assert counted[0] == counted[1]
    assert logged[0] == logged[1]
    assert len(logged[0]) == len(PLAIN)


def session_of(served: Served) -> Session:
    (tower,) = served.state.resources.default_encoder.towers.values()
    return tower.session


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


def nothing_left(served: Served) -> bool:
    queue = served.state.resources.engine.queue
    return not (queue._present or queue.tokens or served.state.headcount._answered)


async def test_who_is_gone_is_not_waited_for(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(session_of(served))
    monkeypatch.setattr(session_of(served), "run", gate)
    held = asyncio.create_task(served.ask("POST", "/embed", json={"inputs": "first"}))
    await until(gate.reached.is_set)
    _, writer = await served.connect()
    writer.write(request({"inputs": "second"}))
    await until(lambda: served.lane.taken == [True, True])
    writer.close()
    cancelled = served.state.metrics.cancelled._value
    await until(lambda: cancelled.get() == 1)
    gate.opened.set()
    assert (await held).status_code == 200
    assert nothing_left(served)


async def test_past_its_time_it_is_told_so(
    tiny_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = []
    for short in (True, False):
        settings = tiny_settings(tiny_bundle, tmp_path, request_timeout_seconds=0.2)
        async with serve(settings, short=short) as served:
            gate = Gate(session_of(served))
            monkeypatch.setattr(session_of(served), "run", gate)
            answer = await served.ask("POST", "/embed", json={"inputs": TEXT})
            gate.opened.set()
            assert answer.status_code == 504
            assert await rejected(served, "deadline") == 1
            said.append(without_what_differs(answer))
            await until(lambda served=served: nothing_left(served))  # type: ignore[misc]
    assert said[0] == said[1]


async def rejected(served: Served, reason: str) -> float:
    return (await samples(served)).get(
        ("interlingua_rejected_total", f"[('reason', '{reason}')]"), 0.0
    )


@pytest.mark.parametrize("error", [BackendError("It is broken."), ZeroDivisionError("a bug")])
async def test_a_model_that_fails_is_told_as_ever(
    both: tuple[Served, Served], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(_: Inputs) -> Vectors:
        raise error

    for served in both:
        monkeypatch.setattr(session_of(served), "run", fail)
    answer = await assert_same(both, "/embed", taken=True, json={"inputs": TEXT})
    assert answer.status_code == 500
    assert nothing_left(both[0])


async def test_a_bug_is_logged_with_its_requests_id(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: object) -> bytes:
        raise ZeroDivisionError

    monkeypatch.setattr("service.express.lane.to_json", fail)
    caplog.handler.addFilter(RequestIdFilter())
    answer = await served.ask("POST", "/embed", json={"inputs": TEXT})
    assert answer.status_code == 500
    assert served.lane.taken == [True]
    logged = [r.__dict__["request_id"] for r in caplog.records if "this is a bug" in r.message]
    assert logged == [answer.headers["x-request-id"]] == [answer.json()["request_id"]]


async def test_a_full_queue_is_told_as_ever(
    both: tuple[Served, Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OverloadedError("The queue is full.", retry_after_seconds=3)

    for served in both:
        monkeypatch.setattr(served.state.resources.engine.queue, "_check_room", refuse)
    answer = await assert_same(both, "/embed", taken=False, json={"inputs": TEXT})
    assert answer.headers["retry-after"] == "3"
    assert nothing_left(both[0])


async def test_a_server_that_is_about_to_stop_leaves_all_to_the_ordinary_way(
    served: Served,
) -> None:
    served.state.begin_leaving()
    assert (await served.ask("POST", "/embed", json={"inputs": TEXT})).status_code == 200
    assert served.lane.taken == [False]


async def test_where_traces_are_made_all_takes_the_ordinary_way(
    tiny_bundle: Path, tmp_path: Path
) -> None:
    trace = pytest.importorskip("opentelemetry.sdk.trace", reason="it comes with the extra `otel`")
    traces = Traces(trace.TracerProvider())
    async with serve(tiny_settings(tiny_bundle, tmp_path), traces=traces) as served:
        assert (await served.ask("POST", "/embed", json={"inputs": TEXT})).status_code == 200
        assert not served.lane.taken


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    file = tmp_path / "keys"
    file.write_text(
        "good name=good scopes=embed\nslow name=slow scopes=embed rate=1\n"
        "reader name=reader scopes=search\n"
    )
    return file


@pytest.mark.parametrize(
    ("key", "taken", "status"),
    [("good", True, 200), ("slow", False, 200), ("reader", False, 403), ("none", False, 401)],
)
async def test_keys_are_asked_for(
    tiny_bundle: Path, tmp_path: Path, keys: Path, key: str, taken: bool, status: int
) -> None:
    settings = tiny_settings(
        tiny_bundle, tmp_path / "data", api_keys=[SecretStr("other")], api_keys_file=keys
    )
    async with serve(settings) as served:
        answer = await served.ask(
            "POST", "/embed", json={"inputs": TEXT}, headers={"authorization": f"Bearer {key}"}
        )
        assert answer.status_code == status
        assert served.lane.taken == [taken]
        assert (await served.ask("POST", "/embed", json={"inputs": TEXT})).status_code == 401


def request(body: object, *, path: str = "/embed") -> bytes:
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(content)}\r\n\r\n".encode() + content
