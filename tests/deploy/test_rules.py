from __future__ import annotations

import re

import yaml

from tests.deploy.metric_names import declared_names, names_in
from tests.deploy.tools import ROOT, RULES, run, tool


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
    names = config["scrape_configs"][0]["dns_sd_configs"][0]["names"]
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert set(names) <= set(services)
