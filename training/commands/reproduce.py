"""`interlingua reproduce`: the papers' claims, run again."""

from __future__ import annotations

from pathlib import Path

import click

from training.commands.options import DATA, need_torch


@click.command("reproduce")
@click.argument("claims", nargs=-1, metavar="[CLAIM]...")
@click.option("--all", "everything", is_flag=True, help="Every claim that is not run, or stale.")
@click.option("--report", "only_report", is_flag=True, help="Make the page of the results anew.")
@DATA
@click.option(
    "--work",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs/claims"),
    show_default=True,
    help="Runs and figures are kept here; what was broken off goes on.",
)
@click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("docs/reproduction"),
    show_default=True,
    help="One JSON file a claim; the page is written beside this folder.",
)
@click.option("--smoke", is_flag=True, help="Every system at scale `smoke`, on made-up sentences.")
@click.option("--recipe", "names", multiple=True, help="With --smoke: only this one.")
@click.option("--out", type=click.Path(path_type=Path), help="With --smoke: keep the runs here.")
@click.option("--workers", type=click.IntRange(1), help="Trainings at a time. [default: cores]")
def reproduce(
    claims: tuple[str, ...],
    everything: bool,
    only_report: bool,
    data: Path | None,
    work: Path,
    results: Path,
    smoke: bool,
    names: tuple[str, ...],
    out: Path | None,
    workers: int | None,
) -> None:
    """List the papers' claims with their verdicts, or run CLAIM from data to verdict.

    With --smoke, train, export and serve every system of every recipe, and see that the server
    agrees.

    \b
    Example: interlingua reproduce S1 --data ./data
    """
    need_torch()
    if not smoke and (names or out):
        raise click.UsageError("--recipe and --out are for --smoke: name it, or leave them out.")
    if smoke:
        from training.reproduce import run_smoke

        failed, count = run_smoke(names, out, workers)
        if failed:
            raise click.ClickException(f"{failed} of {count} systems failed.")
        return
    from training.claims.command import list_claims, run_claims, write_report

    if claims or everything:
        trouble = run_claims(claims, data=data, work=work, results=results, workers=workers)
        if trouble:
            raise click.ClickException("; ".join(trouble))
    elif only_report:
        click.echo(str(write_report(results)))
    else:
        click.echo(list_claims(results))
