from __future__ import annotations

from importlib import metadata

from service.diagnosis.machine import describe_machine, execution_providers, installed_versions


def test_the_machine_is_described() -> None:
    described = describe_machine()
    assert {"system", "python", "processor", "cores", "memory"} <= set(described)
    assert all(described.values())
    assert "GiB" in described["memory"]


def test_only_what_is_installed_has_a_version() -> None:
    versions = installed_versions()
    assert versions["numpy"] == metadata.version("numpy")
    assert "faiss-gpu-cu12" not in versions


def test_nothing_is_computed_elsewhere() -> None:
    assert "CPUExecutionProvider" in execution_providers()
    assert "AzureExecutionProvider" not in execution_providers()
