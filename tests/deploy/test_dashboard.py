"""The dashboard: sound, provisioned, and each of its queries answered by a real Prometheus."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator

import httpx
import pytest
import yaml

from tests.deploy.metric_names import declared_names, names_in
from tests.deploy.tools import DASHBOARD, ROOT, RULES, running_prometheus, tool
from tests.e2e.conftest import start_server

PANELS = [p for p in json.loads(DASHBOARD.read_text())["panels"] if p["type"] != "row"]
QUERIES = [
    pytest.param(target["expr"], id=f"{panel['title']}-{target['refId']}")
    for panel in PANELS
    for target in panel["targets"]
]


def test_it_names_metrics_that_exist() -> None:
    assert names_in(DASHBOARD.read_text()) <= declared_names()


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + i, at["y"] + j) for i in range(at["w"]) for j in range(at["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells


def test_its_datasource_and_folder_are_provisioned() -> None:
    provisioning = ROOT / "deploy" / "grafana" / "provisioning"
    source = yaml.safe_load((provisioning / "datasources" / "prometheus.yml").read_text())
    assert {panel["datasource"]["uid"] for panel in PANELS} == {source["datasources"][0]["uid"]}
    provider = yaml.safe_load((provisioning / "dashboards" / "interlingua.yml").read_text())
    volumes = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["grafana"][
        "volumes"
    ]
    path = provider["providers"][0]["options"]["path"]
    assert any(volume.split(":")[1] == path for volume in volumes)


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A Prometheus that has scraped a used server for a while, rules and all."""
    tool("prometheus")  # before a server is started
    home = tmp_path_factory.mktemp("prometheus")
    server = start_server(home / "data")
    scrape = {"job_name": "interlingua", "static_configs": [{"targets": [server.url[7:]]}]}
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(RULES)],
        "scrape_configs": [scrape],
    }
    (home / "prometheus.yml").write_text(yaml.safe_dump(config))
    try:
        with running_prometheus(home) as client:
            _scraped(client, server.client)
            yield client
    finally:
        assert server.stop() == 0


def _scraped(prometheus: httpx.Client, client: httpx.Client) -> None:
    """Use the service until Prometheus has seen it grow a few times."""
    until = time.monotonic() + 30
    query = 'count_over_time(interlingua_index_search_seconds_count{corpus="demo"}[30s]) > 3'
    while time.monotonic() < until:
        _use(client)
        seen = prometheus.get("/api/v1/query", params={"query": query}).json()
        if seen["data"]["result"]:
            return
        time.sleep(0.3)
    pytest.fail("Prometheus scraped nothing within 30 s")


def _use(client: httpx.Client) -> None:
    for _ in range(3):
        assert client.post("/embed", json={"inputs": ["one", "two"]}).status_code == 200
        assert client.get("/similar", params={"q": "guitar"}).status_code == 200
        assert client.post("/classify", json={"inputs": "football"}).status_code == 200


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.parametrize("expression", QUERIES)
def test_each_panel_has_data(prometheus: httpx.Client, expression: str) -> None:
    expression = re.sub(r"\$__rate_interval", "30s", expression).replace("$instance", ".*")
    answer = prometheus.get("/api/v1/query", params={"query": expression}).json()
    assert answer["status"] == "success", answer
    values = [float(sample["value"][1]) for sample in answer["data"]["result"]]
    assert values, expression
    assert any(value == value for value in values), f"only NaN: {expression}"


@pytest.mark.e2e
@pytest.mark.slow
def test_a_calm_service_raises_no_alarm(prometheus: httpx.Client) -> None:
    rules = prometheus.get("/api/v1/rules").json()["data"]["groups"]
    states = {r["name"]: r["state"] for g in rules for r in g["rules"] if r["type"] == "alerting"}
    assert states
    assert not {name for name, state in states.items() if state == "firing"}
