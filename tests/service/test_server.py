from __future__ import annotations

import asyncio
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from service.api.state import State
from service.search.corpora import Corpora
from service.server import StoppingServer, banner
from service.settings import Settings
from service.telemetry.metrics import Metrics
from tests.service.api.running import run_app, tiny_settings
from tests.service.search.samples import sample_documents, sample_vectors
from tests.tiny_bundle import make_tiny_bundle

COMMAND = Path(sys.executable).with_name("interlingua")


def start(tmp_path: Path, model: Path, *flags: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            COMMAND,
            "serve",
            "--data",
            tmp_path / "data",
            "--model",
            model,
            "--no-demo-corpus",
            *flags,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def url_of(process: subprocess.Popen[str]) -> str:
    """Wait until the server is up, and return where."""
    assert process.stdout is not None
    lines = []
    while "/classify" not in (line := process.stdout.readline()):
        assert line, "the server ended before it was up"
        lines.append(line)
    found = re.search(r"http://127\.0\.0\.1:\d+", "".join(lines))
    assert found is not None
    return found.group()


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("number", "drain_seconds"), [(signal.SIGTERM, "0.5"), (signal.SIGINT, "inf")]
)
def test_a_signal_stops_it_cleanly(
    tmp_path: Path, tiny_bundle: Path, number: signal.Signals, drain_seconds: str
) -> None:
    process = start(tmp_path, tiny_bundle, "--port", "0", "--drain-seconds", drain_seconds)
    url_of(process)
    process.send_signal(number)
    assert process.wait(20) == 0
    process.communicate()


@pytest.mark.e2e
def test_an_idle_connection_is_kept_as_long_as_was_asked(tmp_path: Path, tiny_bundle: Path) -> None:
    process = start(tmp_path, tiny_bundle, "--port", "0", "--keep-alive-seconds", "1")
    try:
        connection = http.client.HTTPConnection(url_of(process).removeprefix("http://"), timeout=20)
        connection.request("GET", "/health/live")
        connection.getresponse().read()
        began = time.monotonic()
        assert connection.sock.recv(1) == b"", "it is closed, and nothing is said"
        assert 0.5 < time.monotonic() - began < 4, "uvicorn's own would be 5 s"
        connection.close()
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.mark.e2e
def test_a_bad_model_is_said_in_one_line(tmp_path: Path) -> None:
    process = start(tmp_path, tmp_path, "--port", "0")
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "has no bundle.json" in errors
    assert "Traceback" not in errors


@pytest.mark.e2e
def test_a_taken_port_is_said_with_the_remedy(tmp_path: Path, tiny_bundle: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = start(tmp_path, tiny_bundle, "--port", str(taken.getsockname()[1]))
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "--port 0" in errors


@pytest.mark.e2e
def test_probes_learn_of_a_stop_before_requests_do(tmp_path: Path, tiny_bundle: Path) -> None:
    """With a notice, a load balancer turns away while the service still answers all."""
    process = start(tmp_path, tiny_bundle, "--port", "0", "--drain-notice-seconds", "1.5")
    with httpx.Client(base_url=url_of(process)) as client:
        assert client.get("/health/ready").status_code == 200
        process.send_signal(signal.SIGTERM)
        while client.get("/health/ready").status_code == 200:
            pass
        assert client.post("/embed", json={"inputs": "hello"}).status_code == 200
        assert client.get("/health/live").status_code == 200
    assert process.wait(20) == 0
    process.communicate()


@pytest.mark.e2e
def test_a_stop_under_load_loses_no_request_that_was_taken(
    tmp_path: Path, tiny_bundle: Path
) -> None:
    notice = 2.0
    process = start(
        tmp_path, tiny_bundle, "--port", "0", "--drain-notice-seconds", str(notice),
        "--queue-seconds", "60", "--log-level", "warning",  # nobody reads the log meanwhile
    )  # fmt: skip
    url = httpx.URL(url_of(process))
    httpx.put(f"{url}/corpora/drained").raise_for_status()
    asked: list[tuple[float, str, int]] = []

    def client(number: int) -> None:
        for turn in range(10_000):
            began, id = time.monotonic(), f"{number}-{turn}"
            body = json.dumps({"documents": [{"id": id, "text": f"document {id} " * 20}]})
            connection = http.client.HTTPConnection(url.host, url.port, timeout=30)
            try:
                connection.request(
                    "POST", "/corpora/drained/documents", body, {"content-type": "application/json"}
                )
                asked.append((began, id, connection.getresponse().status))
            except (OSError, http.client.HTTPException):
                asked.append((began, id, 0))
                return
            finally:
                connection.close()

    threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    leaving = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    for thread in threads:
        thread.join(30)
    process.communicate()
    # Begun while requests were still taken, however long they took.
    taken = [(id, status) for began, id, status in asked if began < leaving + 0.5 * notice]
    assert len(taken) >= 8
    assert {status for _, status in taken} == {200}
    corpora = Corpora(tmp_path / "data" / "corpora")
    try:
        there = corpora.get("drained").find([id for _, id, status in asked if status == 200])
        assert all(id in there for _, id, status in asked if status == 200)
    finally:
        corpora.close()


@pytest.mark.e2e
def test_answers_before_a_stop_end_their_connections(tmp_path: Path, tiny_bundle: Path) -> None:
    """Who keeps a connection would send into one that is being closed."""
    process = start(tmp_path, tiny_bundle, "--port", "0", "--drain-notice-seconds", "3")
    connection = http.client.HTTPConnection(url_of(process).removeprefix("http://"), timeout=20)

    def ask() -> http.client.HTTPResponse:
        connection.request("GET", "/health/ready")
        answer = connection.getresponse()
        answer.read()
        return answer

    assert not ask().will_close
    process.send_signal(signal.SIGTERM)
    while (answer := ask()).status == 200:
        pass
    assert answer.will_close
    time.sleep(1.2)  # uvicorn has set its headers anew
    assert ask().will_close
    assert process.wait(20) == 0
    process.communicate()


@pytest.mark.e2e
def test_what_outlasts_a_stop_is_told_so(tmp_path: Path, tiny_bundle: Path) -> None:
    process = start(tmp_path, tiny_bundle, "--port", "0", "--drain-seconds", "0.5")
    url = httpx.URL(url_of(process))
    connections = []
    for path in ("/embed", "/v1/embeddings"):
        connection = http.client.HTTPConnection(url.host, url.port, timeout=20)
        connection.putrequest("POST", path)
        connection.putheader("content-type", "application/json")
        connection.putheader("content-length", "1000")
        connection.endheaders(b'{"inp')
        connections.append(connection)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    plain, openai = (connection.getresponse() for connection in connections)
    assert (plain.status, openai.status) == (503, 503)
    assert plain.headers["content-type"] == "application/problem+json"
    problem = json.loads(plain.read())
    assert problem["type"] == "urn:interlingua:problem:unavailable"
    assert problem["request_id"] == plain.headers["x-request-id"]
    assert plain.headers["retry-after"]
    assert json.loads(openai.read())["error"]["code"] == "unavailable"
    assert process.wait(20) == 0
    _, errors = process.communicate()
    assert "Traceback" not in errors
    assert "status=503" in errors


async def test_what_a_kept_connection_has_sent_is_answered_before_a_stop() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    config = uvicorn.Config(app, log_config=None, lifespan="off")
    config.load()
    server = StoppingServer(config, State(Settings(), Metrics()), notice_seconds=0)
    server.lifespan = config.lifespan_class(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        await server.startup([listener])
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        for last in (False, True):
            writer.write(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
            if last:
                await server.shutdown([listener])
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 204 ")
        writer.close()


async def test_the_lines_at_the_start_name_every_model_and_work_with_keys(
    tmp_path: Path, tiny_bundle: Path
) -> None:
    twin = make_tiny_bundle(tmp_path / "twin", name="twin")
    for keys in ([], ["secret"]):
        settings = tiny_settings(
            tiny_bundle, tmp_path / "data", model=[tiny_bundle, twin], api_keys=keys
        )
        async with run_app(settings) as running:
            corpora = running.state.resources.corpora
            for count in range(3) if not keys else ():
                corpus = corpora.create(f"n{count}", model="tiny", space="tiny-space", dimension=2)
                corpus.upsert(sample_documents(count), sample_vectors(count, dimension=2))
            told = banner("http://localhost:8000", running.state.resources, settings)
        assert "n0 (0 documents), n1 (1 document), n2 (2 documents)\n" in told
        assert "  models       tiny, 16 dimensions; twin, 16 dimensions\n" in told
        commands = [line for line in told.splitlines() if line.startswith("  curl")]
        assert len(commands) == 3
        assert all(("authorization: Bearer KEY" in line) == bool(keys) for line in commands)
        assert "secret" not in told


@pytest.mark.e2e
def test_without_keys_another_address_is_refused(tmp_path: Path, tiny_bundle: Path) -> None:
    process = start(tmp_path, tiny_bundle, "--port", "0", "--host", "0.0.0.0")
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "INTERLINGUA_OPEN_TO_NETWORK" in errors
    assert "Traceback" not in errors
