from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import service

PACKAGE = Path(service.__file__).parent
TRAINING_ONLY = {"torch", "training", "lightning", "transformers", "sentence_transformers"}


def imported_at_once(module: Path) -> Iterator[str]:
    """Yield what the import of `module` imports; functions and type checks are for later."""
    for statement in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Import):
            yield from (name.name for name in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            yield statement.module


def test_the_service_does_not_know_of_the_training_half() -> None:
    """Not in a function either: its commands are entry points."""
    statements = (
        (module, statement)
        for module in sorted(PACKAGE.rglob("*.py"))
        for statement in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
    )
    offenders = [
        str(module.relative_to(PACKAGE))
        for module, statement in statements
        if (isinstance(statement, ast.Import) and _of_training(statement.names[0].name))
        or (isinstance(statement, ast.ImportFrom) and _of_training(statement.module or ""))
    ]
    assert offenders == []


def _of_training(name: str) -> bool:
    return name.partition(".")[0] == "training"


def test_the_server_is_installed_without_what_trains() -> None:
    modules = sorted(PACKAGE.rglob("*.py"))
    assert len(modules) > 100
    offenders = [
        f"{module.relative_to(PACKAGE)} imports {name}"
        for module in modules
        for name in imported_at_once(module)
        if name.partition(".")[0] in TRAINING_ONLY
    ]
    assert offenders == []
