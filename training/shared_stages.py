"""Stages that runs have in common, trained once.

The two translation models under NV and cNV are the same ones, and so are the shared layers of cNV
whose contexts are summed or joined at the export (Li 2021, chapter 3). A stage that says what it
does not read is kept beside the cleaned text, by all that it does read, and whoever is to train the
same takes it from there.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from training.checkpoints import LAST_FILE
from training.locks import alone
from training.parallel import rank
from training.recipe import Recipe, Stage, distinguishing
from training.workspace import Workspace, copy, put


def stage_key(recipe: Recipe[Any], stage: Stage[Any], parameters: object, work: Workspace) -> str:
    """Return sixteen hex digits that change when anything that the stage reads does.

    Args:
        recipe: What is trained.
        stage: Of it, the one that is to be shared.
        parameters: Of the run.
        work: Of the run, whose data folder may hold what the stage learns from.
    """
    earlier = [before.name for before in recipe.stages[: recipe.stages.index(stage) + 1]]
    folder = work.folder()
    described = [recipe.name, earlier, read_by(stage, parameters), folder.files()]
    text = json.dumps([*described, str(folder.root.resolve())], sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_by(stage: Stage[Any], parameters: object) -> Mapping[str, object]:
    """Return the parameters without those that `stage` says it does not read."""
    unread = stage.unread or ()
    return {name: value for name, value in distinguishing(parameters).items() if name not in unread}


@contextmanager
def shared_stage(work: Workspace, name: str, key: str | None) -> Iterator[None]:
    """Train a stage in the block, or find it done where a run beside has trained it.

    One process trains it at a time; who comes second waits and takes it over. Of several processes
    of one run the first one does all this, before the others look what is there.

    Args:
        work: Of the run.
        name: Of the stage.
        key: Of all that it reads; None where it is not shared.
    """
    if key is None or work.corpora is None or rank() != 0:
        yield
        return
    kept, own = work.corpora / "stages" / key, work.stage(name)
    with alone(kept):
        if kept.exists() and not (own / LAST_FILE).exists():
            shutil.rmtree(own, ignore_errors=True)  # a log without weights
            put(own, lambda staging: copy(kept, staging))
            work.progress.note(f"{name}: taken from {kept}")
        yield
        if not kept.exists():
            put(kept, lambda staging: copy(own, staging))
