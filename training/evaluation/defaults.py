"""What is measured where nobody says, and the command that measures it again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence

from service.shipped import DEMO_CORPUS
from training.data.folder import DataFolder

_FILES = {"tatoeba": ("tatoeba", "{}-en.tsv*"), "sts": ("stsb", "{}.dev.tsv*")}
"""Protocol -> set under eval/ and the files of a language."""


def measurable(
    folder: Callable[[], DataFolder] | None, languages: Sequence[str]
) -> tuple[str, ...]:
    """Return the protocols that there is data for in any of `languages`."""
    found = []
    if folder is not None:
        opened = folder()
        found += [name for name in _FILES if any(_has_file(opened, name, c) for c in languages)]
    if DEMO_CORPUS.exists():
        found.append("demo")
    return tuple(found)


def usual_settings(
    folder: Callable[[], DataFolder] | None, named: Sequence[str], known: Sequence[str]
) -> dict[str, list[str]]:
    """Return the protocols that there is data for, each with the assignments that it takes.

    Who names languages and no protocol asks for what there is; a protocol by itself refuses a
    language that it has no file of.

    Args:
        folder: Opens the data folder, where there is one.
        named: Languages that were asked for.
        known: The model's, which are measured where none were.
    """
    opened = None if folder is None else folder()
    return {
        protocol: assigned([code for code in named if _may_measure(opened, protocol, code)])
        for protocol in measurable(folder, named or known)
    }


def _may_measure(folder: DataFolder | None, protocol: str, language: str) -> bool:
    return folder is None or protocol not in _FILES or _has_file(folder, protocol, language)


def assigned(languages: Sequence[str]) -> list[str]:
    """Return the assignment that chooses `languages`; none where there are none."""
    return [f"languages={','.join(languages)}"] if languages else []


def _has_file(folder: DataFolder, protocol: str, language: str) -> bool:
    name, pattern = _FILES[protocol]
    return bool(folder.evaluation_files(name, pattern.format(language)))


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
