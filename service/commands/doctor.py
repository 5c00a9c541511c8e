"""`interlingua doctor`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson

from service.commands.settings_flags import read_settings, settings_options

if TYPE_CHECKING:
    from service.diagnosis.findings import Finding
    from service.diagnosis.origins import Choice


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was looked at."""

    machine: dict[str, str]
    versions: dict[str, str]
    providers: list[str]
    settings: list[Choice]
    findings: list[Finding]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object in place of text.")
@settings_options
def doctor(as_json: bool, **flags: object) -> None:
    """Say what is there and what to change: machine, versions, settings, models, data.

    It takes the flags of `serve`, reads the same variables and `.env`, and starts nothing.
    Exit code 1 says that a server with these settings would not work.

    \b
    Examples:
      interlingua doctor
      interlingua doctor --model ./my-bundle --port 9000
      interlingua doctor --json | jq .findings
    """
    settings = read_settings(**flags)
    from service.diagnosis.findings import find
    from service.diagnosis.machine import describe_machine, execution_providers, installed_versions
    from service.diagnosis.origins import choices

    given = [name for name, value in flags.items() if value not in (None, ())]
    report = Report(
        machine=describe_machine(),
        versions=installed_versions(),
        providers=execution_providers(),
        settings=choices(settings, given, Path.cwd()),
        findings=find(settings),
    )
    click.echo(orjson.dumps(report, option=orjson.OPT_INDENT_2) if as_json else _text(report))
    if any(finding.level == "error" for finding in report.findings):
        sys.exit(1)


def _text(report: Report) -> str:
    installed = [
        *report.versions.items(),
        ("computes on", ", ".join(report.providers) or "nothing"),
    ]
    chosen = [(choice.name, f"{choice.value}  [{choice.origin}]") for choice in report.settings]
    lines = ["Machine", *_table(list(report.machine.items()))]
    lines += ["Versions", *_table(installed), "Settings", *_table(chosen)]
    lines += ["To change" if report.findings else "Nothing to change."]
    for finding in report.findings:
        lines += [f"  {finding.level}: {finding.what}", f"    {finding.remedy}"]
    return "\n".join(lines)


def _table(rows: list[tuple[str, str]]) -> list[str]:
    width = max(len(name) for name, _ in rows)
    return [*(f"  {name:<{width}}  {value}" for name, value in rows), ""]
