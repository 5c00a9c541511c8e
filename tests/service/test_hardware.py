from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from service import hardware


@pytest.fixture(autouse=True)
def _eight_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(hardware, "_CGROUP_V2", tmp_path / "cpu.max")
    monkeypatch.setattr(hardware, "_CGROUP_V1", tmp_path)


@pytest.mark.parametrize(
    ("content", "cores"),
    [
        ("max 100000", 8),
        ("200000 100000", 2),
        ("150000 100000", 2),  # a core and a half keeps two threads busy
        ("10000 100000", 1),
        ("9900000 100000", 8),
        ("nonsense", 8),
    ],
)
def test_quota_of_cgroup_v2(tmp_path: Path, content: str, cores: int) -> None:
    (tmp_path / "cpu.max").write_text(content)
    assert hardware.available_cores() == cores


@pytest.mark.parametrize(("quota", "cores"), [("-1", 8), ("300000", 3)])
def test_quota_of_cgroup_v1(tmp_path: Path, quota: str, cores: int) -> None:
    (tmp_path / "cpu.cfs_quota_us").write_text(quota)
    (tmp_path / "cpu.cfs_period_us").write_text("100000")
    assert hardware.available_cores() == cores


def test_affinity_alone() -> None:
    assert hardware.available_cores() == 8


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (
            "processor\t: 0\nmodel name\t: Fast: 9 @ 2 GHz\n\nmodel name\t: Other\n",
            "Fast: 9 @ 2 GHz",
        ),
        ("processor\t: 0\n", "of a family"),
        (None, "of a family"),
    ],
)
def test_the_processor_is_named_by_its_model_and_else_by_its_family(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None, name: str
) -> None:
    monkeypatch.setattr(hardware, "_PROCESSORS", tmp_path / "cpuinfo")
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "of a family")
    if content is not None:
        (tmp_path / "cpuinfo").write_text(content)
    assert hardware.processor_name() == name
