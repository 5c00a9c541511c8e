"""The stack of docker-compose.yml, run: the service, three replicas behind HAProxy, Prometheus."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from benchmarks.drills.load import Load, summary
from tests.deploy.stack import Stack, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.e2e, pytest.mark.timeout(1800)]

SERVICES = ("interlingua", "prometheus", "engine", "replica", "balancer")


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack(tmp_path_factory.mktemp("stack"))
    stack.build()
    try:
        stack.do("up", "-d", "--no-build", "--scale", "replica=3", *SERVICES)
        wait_until(
            "a replica behind the balancer", lambda: ready(stack, "balancer", 8080), seconds=180
        )
        wait_until("the service", lambda: ready(stack, "interlingua", 8000), seconds=60)
        yield stack
    finally:
        stack.do("down", "--volumes", "--timeout", "30")


def ready(stack: Stack, service: str, port: int) -> bool:
    return httpx.get(f"{stack.url(service, port)}/health/ready").status_code == 200


def test_the_log_says_where_it_is_and_what_to_paste(stack: Stack) -> None:
    log = stack.logs("interlingua")
    assert re.search(r"Interlingua is up: http://127\.0\.0\.1:8000", log)
    assert re.search(r"model\s+interlingua-mini, \d+ dimensions", log)
    assert re.search(r"languages\s+.*\bde\b.*\bja\b", log)
    assert "curl -sG http://127.0.0.1:8000/similar --data-urlencode 'q=Warum" in log


@pytest.mark.parametrize(("service", "port"), [("interlingua", 8000), ("balancer", 8080)])
def test_a_german_question_finds_other_languages(stack: Stack, service: str, port: int) -> None:
    asked = {"q": "Warum verstimmt sich meine Gitarre?", "languages": "en,fr,ja", "k": "3"}
    hits = httpx.get(f"{stack.url(service, port)}/similar", params=asked).json()
    assert {hit["language"] for hit in hits} == {"en", "fr", "ja"}


def test_dockers_health_check_says_yes(stack: Stack) -> None:
    wait_until("healthy", lambda: stack.healthy("interlingua"), seconds=60)


def test_prometheus_reads_every_replica(stack: Stack) -> None:
    def all_up() -> bool:
        return [s["value"][1] for s in stack.query('sum(up{job="interlingua"})')] == ["4"]

    wait_until("four scraped", all_up, seconds=60)
    rules = httpx.get(f"{stack.url('prometheus', 9090)}/api/v1/rules").json()["data"]["groups"]
    assert {rule["health"] for group in rules for rule in group["rules"]} <= {"ok", "unknown"}


def test_scaling_loses_no_request(stack: Stack) -> None:
    port = int(stack.url("balancer", 8080).rpartition(":")[2])
    with Load(port, rate=10) as load:
        for replicas in (1, 3):
            stack.do(
                "up",
                "-d",
                "--no-build",
                "--no-recreate",
                "--scale",
                f"replica={replicas}",
                *SERVICES,
            )
            ready_ones = str(replicas + 1)  # and the service itself

            def scraped(expected: str = ready_ones) -> bool:
                found = stack.query("count(interlingua_ready == 1)")
                return [sample["value"][1] for sample in found] == [expected]

            wait_until(f"{replicas} replicas scraped", scraped, seconds=90)
    assert len(load.answers) > 50
    assert all(answer.fine for answer in load.answers), summary(load.answers)


def test_an_alert_fires_and_ends(stack: Stack) -> None:
    """A container that is frozen keeps its name and its address, and answers nothing."""
    stack.do("pause", "interlingua")
    try:
        wait_until("fires", lambda: stack.firing("InterlinguaReplicaDown"), seconds=150)
    finally:
        stack.do("unpause", "interlingua")
    wait_until("ends", lambda: not stack.firing("InterlinguaReplicaDown"), seconds=60)
