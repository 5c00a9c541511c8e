"""This version of the source and another one, measured in turn.

So that the machine's moods fall on both.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from benchmarks.arguments import existing_folder
from benchmarks.servers.peers import PEERS, Peer

Load = TypeVar("Load")
Found = TypeVar("Found")


def checkout(text: str) -> Path:
    """Return a directory with a source in it; without one this source would be measured twice."""
    path = existing_folder(text)
    if not (path / "service").is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is no checkout: it has no directory `service`")
    return path


def in_turn(
    other: Path | None,
    measure: Callable[[Peer], Mapping[Load, Found]],
    *,
    names: tuple[str, str],
    repeats: int,
) -> dict[tuple[Load, str], list[Found]]:
    """Return what `measure` found of each load and version, once for each repeat.

    Args:
        other: Another checkout; this one alone where None.
        measure: Starts a server and gives what it finds, by load.
        names: Of the other version and of this.
        repeats: How often each is measured.
    """
    versions = {names[1]: PEERS[0]}
    if other is not None:
        source = {"PYTHONPATH": str(other.resolve())}
        versions = {names[0]: replace(PEERS[0], variables=source)} | versions
    found: dict[tuple[Load, str], list[Found]] = {}
    for _ in range(repeats):
        for version, peer in versions.items():
            for load, one in measure(peer).items():
                found.setdefault((load, version), []).append(one)
    return found
