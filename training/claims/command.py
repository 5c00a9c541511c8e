"""What `interlingua reproduce` does."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from service.errors import InterlinguaError
from service.hardware import available_cores
from training.claims import comparison
from training.claims.judge import is_stale, run_claim
from training.claims.ledger import find_claim, in_order, ledger_table
from training.claims.pictures import draw_claim
from training.claims.report import report
from training.data.folder import open_folder
from training.progress import Progress
from training.store import write_whole


def list_claims(results: Path) -> str:
    """Return all claims with their verdicts as text."""
    return ledger_table(results)


def run_claims(
    names: Sequence[str],
    *,
    data: Path | None,
    work: Path,
    results: Path,
    workers: int | None = None,
) -> list[str]:
    """Run claims from data to verdict, and return what went wrong, a line each.

    A claim that fails does not keep the others from being run. Each result is written as soon as
    it is there, and the page is made anew.

    Args:
        names: IDs, or `comparison` for all systems side by side; what is stale where there are
            none.
        data: The data folder.
        work: Where runs and figures are kept.
        results: Where results go.
        workers: Trainings at a time; as many as cores where None.

    Raises:
        NotFoundError: There is no claim of one of the IDs.
        InputError: There is no data folder.
    """
    wanted = [name for name in names if name != comparison.NAME]
    if names:
        claims = [find_claim(name) for name in wanted]
        compared = len(wanted) < len(names)
    else:
        claims = [claim for claim in in_order() if is_stale(claim, results)]
        compared = comparison.is_stale(results)
    root = open_folder(data).root.resolve()
    count = workers or available_cores()
    progress = Progress(sys.stderr)
    trouble = []
    for claim in claims:
        progress.title(f"{claim.id}: {claim.says}")
        try:
            result = run_claim(
                claim,
                work=work.resolve(),
                data=root,
                results=results,
                workers=count,
                say=progress.note,
            )
            draw_claim(claim, result, results, work=work.resolve(), data=root)
        except Exception as error:  # whatever it is, the other claims go on
            trouble.append(_noted(claim.id, error, progress))
            continue
        write_report(results)
        progress.note(f"{claim.id}: {result['verdict']}")
    if compared:
        progress.title("all systems side by side")
        try:
            comparison.run_comparison(
                work=work.resolve(), data=root, results=results, workers=count, say=progress.note
            )
        except Exception as error:  # what went wrong with the claims is to be heard of too
            trouble.append(_noted(comparison.NAME, error, progress))
        write_report(results)
    return trouble


def _noted(name: str, error: Exception, progress: Progress) -> str:
    """Tell people all of `error` and return a line of it."""
    said = str(error) if isinstance(error, InterlinguaError) else traceback.format_exc()
    progress.note(said)
    return f"{name}: {said.strip().splitlines()[-1]}"


def write_report(results: Path) -> Path:
    """Make the page of `results` anew, beside them, and return where it is."""
    page = results.with_suffix(".md")
    write_whole(page, report(results))
    return page
