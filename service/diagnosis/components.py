"""What a running installation is made of: packages, versions, licences; as a list of materials."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata

from packaging.markers import default_environment
from packaging.requirements import Requirement

DISTRIBUTION = "interlingua"


@dataclass(frozen=True, slots=True)
class Component:
    """An installed package that the service needs.

    Attributes:
        name: As the package index spells it.
        version: That is installed.
        licence: As its makers say: an SPDX expression where they give one, else their own words.
        needs: Names of those that it needs itself.
    """

    name: str
    version: str
    licence: str
    needs: tuple[str, ...]


def components(extras: Iterable[str] = ("cpu",), *, root: str = DISTRIBUTION) -> list[Component]:
    """Return all packages that `root` with `extras` needs and that are installed, by name."""
    found: dict[str, Component] = {}
    waiting = [(root, frozenset(extras))]
    while waiting:
        name, wanted = waiting.pop()
        if normalised(name) in found:
            continue
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # of another platform, or an extra that was not installed
        needed = list(_needed(distribution, wanted))
        found[normalised(name)] = Component(
            name=distribution.metadata["Name"],
            version=distribution.version,
            licence=licence_of(distribution),
            needs=tuple(sorted(normalised(requirement.name) for requirement in needed)),
        )
        waiting += [(requirement.name, frozenset(requirement.extras)) for requirement in needed]
    return [found[name] for name in sorted(found)]


def licence_of(distribution: metadata.Distribution) -> str:
    """Return what a package says of its licence; empty where it says nothing."""
    about = distribution.metadata
    for expression in about.get_all("License-Expression") or ():
        return str(expression)
    classifiers = [
        text.rpartition(" :: ")[2]
        for text in about.get_all("Classifier") or ()
        if text.startswith("License :: ") and text != "License :: OSI Approved"
    ]
    if classifiers:
        return " AND ".join(classifiers)
    # Some put the whole text of it there.
    for text in about.get_all("License") or ():
        return str(text).strip().partition("\n")[0][:100]
    return ""


def bill_of_materials(parts: Iterable[Component]) -> dict[str, object]:
    """Return `parts` as CycloneDX 1.6, which scanners of dependencies read."""
    parts = list(parts)
    by_name = {normalised(part.name): part for part in parts}
    root = by_name[DISTRIBUTION]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _entry(root, kind="application")},
        "components": [_entry(part, kind="library") for part in parts if part is not root],
        "dependencies": [
            {
                "ref": _purl(part),
                "dependsOn": [_purl(by_name[name]) for name in part.needs if name in by_name],
            }
            for part in parts
        ],
    }


def normalised(name: str) -> str:
    """Return a package's name as it is compared (packaging.python.org, name normalization)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _needed(distribution: metadata.Distribution, extras: frozenset[str]) -> Iterable[Requirement]:
    environment = {key: str(value) for key, value in default_environment().items()}
    for text in distribution.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(
            marker.evaluate(environment | {"extra": extra}) for extra in (*extras, "")
        ):
            yield requirement


def _entry(part: Component, *, kind: str) -> dict[str, object]:
    entry: dict[str, object] = {
        "type": kind,
        "bom-ref": _purl(part),
        "name": part.name,
        "version": part.version,
        "purl": _purl(part),
    }
    if part.licence:
        entry["licenses"] = [{"license": {"name": part.licence}}]
    return entry


def _purl(part: Component) -> str:
    return f"pkg:pypi/{normalised(part.name)}@{part.version}"
