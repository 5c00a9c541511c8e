"""The heads that ship, and what each is fitted and measured on.

Only text whose licence allows it: UMSAB's tweets (research use) and XNLI (non-commercial) measure
sentiment and entailment, and fit nothing.
"""

from __future__ import annotations

from pathlib import Path

from service.classification.head import Head
from service.errors import InputError
from training.heads import HeadData, train_head
from training.progress import QUIET, Progress

_COMMAND = "interlingua train heads --model MODEL --data DIR"


def default_heads(folder: Path) -> dict[str, HeadData]:
    """Return what each shipped head is fitted on, by name.

    Args:
        folder: A data folder (docs/data.md), of which `eval/` is used.

    Raises:
        InputError: A file is missing.
    """
    sets = folder / "eval"
    heads = {
        "topic": HeadData(
            # The same sentences in every language: to fit on all is worth two points in the others.
            paths=_files(sets / "sib200", "train") or (sets / "sib200" / "en.train.tsv.gz",),
            language=None,
            parallel=True,
            source="SIB-200",
            dev=_files(sets / "sib200", "dev"),
            dev_source="SIB-200, dev",
            licence="annotation Apache-2.0, text CC BY-SA 4.0",
            attribution="Adelani et al. 2023 (arXiv:2309.07445); sentences: FLORES-200, NLLB team, "
            "Meta AI",
        ),
        "sentiment": HeadData(
            paths=(sets / "xed" / "en.train.tsv.gz",),
            source="XED",
            labels=("negative", "positive"),
            dev=_files(sets / "sentiment_umsab", "dev"),
            dev_source="UMSAB, dev, its positive and negative tweets",
            licence="CC BY 4.0",
            attribution="Öhman et al. 2020, XED (COLING)",
        ),
        "entailment": HeadData(
            paths=tuple(sets / "nli" / f"en.snli_{part}.tsv.gz" for part in ("dev", "test")),
            source="SNLI, dev and test",
            dev=_files(sets / "xnli", "dev"),
            dev_source="XNLI, dev",
            licence="CC BY-SA 4.0",
            attribution="Bowman et al. 2015",
        ),
    }
    for name, data in heads.items():
        for path in data.paths:
            if not path.exists():
                raise InputError(
                    f"The head {name} is fitted on {path}, which is not there.",
                    field="data",
                    given=str(folder),
                    remedy="docs/data.md says how a data folder is laid out; "
                    "`interlingua train head` fits a head on any file of yours.",
                )
    return heads


def train_default_heads(
    model: Path, folder: Path, out: Path, *, machine: str, progress: Progress = QUIET
) -> list[Head]:
    """Fit every shipped head on the vectors of `model`, into `out`/NAME.

    Raises:
        InputError: A file is missing; nothing is written then.
    """
    return [
        train_head(
            model, data, out / name, name=name, machine=machine, command=_COMMAND, progress=progress
        )
        for name, data in default_heads(folder).items()
    ]


def _files(folder: Path, part: str) -> tuple[Path, ...]:
    return tuple(sorted(folder.glob(f"*.{part}.tsv*")))
