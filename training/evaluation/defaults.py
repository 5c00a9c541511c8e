"""What is measured where nobody says, and the command that measures it again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence

from service.shipped import DEMO_CORPUS
from training.data.folder import DataFolder


def measurable(
    folder: Callable[[], DataFolder] | None, languages: Sequence[str]
) -> tuple[str, ...]:
    """Return the protocols that there is data for in any of `languages`."""
    found = []
    if folder is not None:
        opened = folder()
        patterns = {"tatoeba": ("tatoeba", "{}-en.tsv*"), "sts": ("stsb", "{}.dev.tsv*")}
        for protocol, (name, pattern) in patterns.items():
            if any(opened.evaluation_files(name, pattern.format(code)) for code in languages):
                found.append(protocol)
    if DEMO_CORPUS.exists():
        found.append("demo")
    return tuple(found)


def evaluate_command(name: str, protocols: Sequence[str], assignments: Sequence[str] = ()) -> str:
    """Return the command that measures `protocols` on the model `name`."""
    options = " ".join(
        [
            *(f"--protocol {protocol}" for protocol in protocols),
            *(f"--set {shlex.quote(assignment)}" for assignment in assignments),
        ]
    )
    data = " --data DATA" if set(protocols) - {"demo"} else ""
    return f"interlingua evaluate --model {shlex.quote(name)} {options}{data}"
