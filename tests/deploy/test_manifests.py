"""The Kubernetes manifests: built, valid for three versions, hardened, and true to the service."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.settings import Settings
from tests.deploy.tools import ROOT, documents, run, tool

VERSIONS = ("1.31", "1.34", "1.37")
OVERLAYS = ("cpu", "gpu", "scale")
COMPONENTS = ("monitoring", "keda", "gateway")
OF_OPERATORS = {"ServiceMonitor", "PrometheusRule", "ScaledObject", "HTTPRoute"}


@functools.cache
def built(overlay: str) -> tuple[dict[str, Any], ...]:
    text = run(tool("kubectl"), "kustomize", ROOT / "k8s" / "overlays" / overlay)
    return tuple(documents(text))


def only(overlay: str, kind: str) -> dict[str, Any]:
    (found,) = [d for d in built(overlay) if d["kind"] == kind]
    return found


def workload(overlay: str) -> dict[str, Any]:
    return only(overlay, "Deployment" if overlay == "scale" else "StatefulSet")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_each_resource_is_valid(overlay: str, version: str) -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="comes with the extra dev")
    for resource in built(overlay):
        validate.validate(resource, version, strict=True)


def test_the_validation_can_fail() -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="comes with the extra dev")
    service = only("cpu", "Service") | {"spec": {"prots": []}}
    with pytest.raises(validate.ValidationError):
        validate.validate(service, VERSIONS[-1], strict=True)


def with_component(component: str, tmp_path: Path) -> list[dict[str, Any]]:
    """Build the overlay `scale` with a component, as docs/deploy.md says."""
    kubectl = tool("kubectl")
    here = tmp_path / "k8s"
    run("cp", "-r", ROOT / "k8s", here)
    top = here / "overlays" / "mine"
    top.mkdir()
    (top / "kustomization.yaml").write_text(
        yaml.safe_dump(
            {
                "apiVersion": "kustomize.config.k8s.io/v1beta1",
                "kind": "Kustomization",
                "namespace": "interlingua",
                "resources": ["../scale"],
                "components": [f"../../components/{component}"],
            }
        )
    )
    return documents(run(kubectl, "kustomize", top))


@pytest.mark.parametrize("component", COMPONENTS)
def test_each_component_builds_onto_an_overlay(component: str, tmp_path: Path) -> None:
    resources = with_component(component, tmp_path)
    kinds = {resource["kind"] for resource in resources}
    assert kinds & OF_OPERATORS
    assert ("HorizontalPodAutoscaler" in kinds) == (component != "keda")
    assert ("Ingress" in kinds) == (component != "gateway")
    assert {r["metadata"]["namespace"] for r in resources if r["kind"] in OF_OPERATORS} == {
        "interlingua"
    }


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_pods_pass_the_restricted_standard(overlay: str) -> None:
    """Each condition of Kubernetes' Pod Security Standards, profile restricted, 1.31 and later."""
    labels = only(overlay, "Namespace")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    pod = workload(overlay)["spec"]["template"]["spec"]
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] != 0
    assert pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
    allowed = {"configMap", "emptyDir", "persistentVolumeClaim", "projected", "secret"}
    assert all(set(volume) - {"name"} <= allowed for volume in pod["volumes"])
    for container in pod["containers"]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert not any("hostPort" in port for port in container["ports"])


def selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """As Kubernetes does, of what is used here; an empty selector selects all."""
    assert all(e["operator"] == "In" for e in selector.get("matchExpressions", ()))
    return selector.get("matchLabels", {}).items() <= labels.items() and all(
        labels.get(e["key"]) in e["values"] for e in selector.get("matchExpressions", ())
    )


def lets_in(policy: dict[str, Any], namespace: str, pod: dict[str, str]) -> bool:
    (rule,) = policy["spec"]["ingress"]
    there = {"kubernetes.io/metadata.name": namespace}
    return any(
        selects(peer["namespaceSelector"], there) and selects(peer.get("podSelector", {}), pod)
        for peer in rule["from"]
    )


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_who_may_connect(overlay: str) -> None:
    policy = only(overlay, "NetworkPolicy")
    assert lets_in(policy, "ingress-nginx", {})
    assert lets_in(policy, "monitoring", {})
    assert lets_in(policy, "shop", {"app.kubernetes.io/name": "shop", "interlingua-client": "true"})
    assert not lets_in(policy, "shop", {"app.kubernetes.io/name": "shop"})


def test_a_gateway_reaches_the_service_and_cuts_no_stream(tmp_path: Path) -> None:
    resources = {each["kind"]: each for each in with_component("gateway", tmp_path)}
    spec = resources["HTTPRoute"]["spec"]
    (parent,) = spec["parentRefs"]
    assert lets_in(resources["NetworkPolicy"], parent["namespace"], {})
    assert lets_in(resources["NetworkPolicy"], "monitoring", {})
    limits = {r["matches"][0]["path"]["value"]: r["timeouts"]["request"] for r in spec["rules"]}
    assert limits == {"/corpora": "0s", "/": "65s"}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_threads_are_what_the_quota_gives(overlay: str) -> None:
    resources = workload(overlay)["spec"]["template"]["spec"]["containers"][0]["resources"]
    assert resources["requests"]["cpu"] == resources["limits"]["cpu"]
    assert resources["requests"]["memory"] == resources["limits"]["memory"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_configuration_names_real_settings(overlay: str) -> None:
    data = only(overlay, "ConfigMap")["data"]
    assert {name.removeprefix("INTERLINGUA_").lower() for name in data} <= set(
        Settings.model_fields
    )


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_pod_has_time_to_drain(overlay: str) -> None:
    data = only(overlay, "ConfigMap")["data"]
    pod = workload(overlay)["spec"]["template"]["spec"]
    needed = sum(float(data[f"INTERLINGUA_DRAIN_{n}SECONDS"]) for n in ("NOTICE_", ""))
    assert pod["terminationGracePeriodSeconds"] > needed
    probe = pod["containers"][0]["readinessProbe"]
    seen = probe["periodSeconds"] * probe["failureThreshold"] + probe.get("timeoutSeconds", 1)
    assert seen < float(data["INTERLINGUA_DRAIN_NOTICE_SECONDS"])


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_keys_are_mounted_whole_where_the_service_reads_them(overlay: str) -> None:
    """A subPath would never see a rotated key."""
    container = workload(overlay)["spec"]["template"]["spec"]["containers"][0]
    (mount,) = [mount for mount in container["volumeMounts"] if mount["name"] == "keys"]
    file = only(overlay, "ConfigMap")["data"]["INTERLINGUA_API_KEYS_FILE"]
    assert file.startswith(mount["mountPath"] + "/")
    assert "subPath" not in mount
    assert not [r for r in built(overlay) if r["kind"] == "Secret"], "keys are never committed"


def test_updates_of_the_scale_overlay_never_take_a_replica_before_its_successor() -> None:
    strategy = workload("scale")["spec"]["strategy"]["rollingUpdate"]
    assert strategy["maxUnavailable"] == 0
    assert strategy["maxSurge"] >= 1
    assert only("scale", "HorizontalPodAutoscaler")["spec"]["minReplicas"] >= 2
