"""Stages that runs have in common, trained once.

The two translation models under NV and cNV are the same ones, and so are the shared layers of cNV
whose contexts are summed or joined at the export (Li 2021, chapter 3). A stage that says what it
does not read is kept beside the cleaned text, by all that it does read, and whoever is to train the
same takes it from there.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from training.checkpoints import LAST_FILE
from training.locks import alone
from training.parallel import rank
from training.recipe import Recipe, Stage, distinguishing
from training.workspace import Workspace, copy, put


def shared_place(
    recipe: Recipe[Any], stage: Stage[Any], parameters: object, work: Workspace
) -> Path | None:
    """Return where a stage is kept for all runs, by all that it reads; None where it is not shared.

    Args:
        recipe: What is trained.
        stage: Of it.
        parameters: Of the run.
        work: Of the run, whose data folder may hold what the stage learns from.
    """
    if work.corpora is None or stage.unread is None:
        return None
    read = {k: v for k, v in distinguishing(parameters).items() if k not in stage.unread}
    folder = work.folder()
    described = repr((recipe.name, stage.name, read, str(folder.root.resolve()), folder.files()))
    return work.corpora / "stages" / hashlib.sha256(described.encode()).hexdigest()[:16]


@contextmanager
def shared_stage(work: Workspace, name: str, kept: Path | None) -> Iterator[None]:
    """Train a stage in the block, or find it done where a run beside has trained it.

    One process trains it at a time; who comes second waits and takes it over. Of several processes
    of one run the first one does all this, before the others look what is there.

    Args:
        work: Of the run.
        name: Of the stage.
        kept: Where it is kept for all runs; None where it is not shared.
    """
    if kept is None or rank() != 0:
        yield
        return
    own = work.stage(name)
    with alone(kept):
        if kept.exists() and not (own / LAST_FILE).exists():
            shutil.rmtree(own, ignore_errors=True)  # a log without weights
            put(own, lambda staging: copy(kept, staging))
            work.progress.note(f"{name}: taken from {kept}")
        yield
        if not kept.exists():
            put(kept, lambda staging: copy(own, staging))
