from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.metric_names import declared_names, names_in
from tests.deploy.tools import ROOT, RULES, run, running_prometheus, tool


def alerts() -> list[dict[str, str]]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"] if "alert" in rule]


def test_the_rules_are_sound() -> None:
    assert "SUCCESS" in run(tool("promtool"), "check", "rules", RULES)


def test_each_alert_fires_on_its_fault_and_none_in_calm() -> None:
    run(tool("promtool"), "test", "rules", RULES.with_name("rules_test.yml"))


def test_each_alert_is_tested() -> None:
    tested = set(re.findall(r"alertname: (\w+)", RULES.with_name("rules_test.yml").read_text()))
    assert tested == {rule["alert"] for rule in alerts()}


def test_the_rules_name_metrics_that_exist() -> None:
    assert names_in(RULES.read_text()) <= declared_names()


def test_each_alert_is_explained() -> None:
    text = (ROOT / "docs" / "operate.md").read_text()
    missing = [rule["alert"] for rule in alerts() if f"### {rule['alert']}\n" not in text]
    assert not missing


def test_the_operators_resource_holds_the_same_rules() -> None:
    resource = ROOT / "k8s" / "components" / "monitoring" / "prometheusrule.yaml"
    spec = yaml.safe_load(resource.read_text())["spec"]
    assert spec == yaml.safe_load(RULES.read_text()), (
        "put the groups of deploy/prometheus/rules.yml under spec of prometheusrule.yaml"
    )


def test_the_configuration_is_sound() -> None:
    text = RULES.with_name("prometheus.yml").read_text()
    config = yaml.safe_load(text)
    scrape = config["scrape_configs"][0]
    targets = scrape["static_configs"][0]["targets"]
    names = [*scrape["dns_sd_configs"][0]["names"], *(t.partition(":")[0] for t in targets)]
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert set(names) == {"interlingua", "replica"} <= set(services)


def test_a_service_whose_name_is_gone_is_down(tmp_path: Path) -> None:
    """Docker forgets the name of a container that ended; here it never was."""
    config = yaml.safe_load(RULES.with_name("prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "1s"}
    del config["rule_files"]
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    with running_prometheus(tmp_path) as client:
        until = time.monotonic() + 30
        down: list[dict[str, Any]] = []
        while not down and time.monotonic() < until:
            time.sleep(0.5)
            query = {"query": 'up{job="interlingua"} == 0'}
            down = client.get("/api/v1/query", params=query).json()["data"]["result"]
    assert [series["metric"]["instance"] for series in down] == ["interlingua:8000"]
