from __future__ import annotations

import functools
from typing import Any

import pytest
import yaml

from service.settings import Settings
from tests.deploy.tools import ROOT, compose, run, tool

PROFILES = ("gpu", "scale", "train")


@functools.cache
def services() -> dict[str, dict[str, Any]]:
    loaded = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    found: dict[str, dict[str, Any]] = loaded["services"]
    return found


def test_the_file_is_valid_with_every_profile() -> None:
    flags = [flag for profile in PROFILES for flag in ("--profile", profile)]
    run(*compose(), *flags, "config", "-q")


def test_without_a_profile_it_is_the_service_and_its_dashboards() -> None:
    plain = {name for name, service in services().items() if "profiles" not in service}
    assert plain == {"interlingua", "prometheus", "grafana"}


def test_variables_are_settings() -> None:
    for service in services().values():
        for name in service.get("environment", {}):
            if name.startswith("INTERLINGUA_"):
                assert name.removeprefix("INTERLINGUA_").lower() in Settings.model_fields, name


def test_nothing_listens_beyond_this_machine() -> None:
    ports = [port for service in services().values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


@pytest.mark.parametrize("name", ["interlingua", "gpu", "replica"])
def test_the_service_runs_hardened(name: str) -> None:
    service = services()[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]


def test_grafana_lets_all_look_and_nobody_in() -> None:
    said = services()["grafana"]["environment"]
    wanted = {
        "GF_AUTH_ANONYMOUS_ENABLED": "true",
        "GF_AUTH_ANONYMOUS_ORG_ROLE": "Viewer",
        "GF_AUTH_DISABLE_LOGIN_FORM": "true",
        "GF_AUTH_BASIC_ENABLED": "false",  # the header that the hidden form leaves
        "GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION": "true",  # admin/admin
    }
    assert {name: said.get(name) for name in wanted} == wanted
    provisioned = ROOT / "deploy" / "grafana" / "provisioning"
    provider = yaml.safe_load((provisioned / "dashboards" / "interlingua.yml").read_text())
    assert provider["providers"][0]["allowUiUpdates"] is False
    source = yaml.safe_load((provisioned / "datasources" / "prometheus.yml").read_text())
    assert source["datasources"][0]["editable"] is False


def test_images_are_pinned() -> None:
    for name, service in services().items():
        if "build" not in service:
            assert not service["image"].endswith(":latest"), name
            assert ":" in service["image"], name


def test_the_balancers_configuration_is_valid() -> None:
    text = (ROOT / "deploy" / "haproxy" / "haproxy.cfg").read_text()
    assert "replica:8000" in text
    run(tool("haproxy"), "-c", "-f", ROOT / "deploy" / "haproxy" / "haproxy.cfg")
