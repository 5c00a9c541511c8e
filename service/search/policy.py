"""How a corpus is indexed, and from which size on not every vector is compared."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import orjson

from service.errors import InputError, StorageError

IndexKind: TypeAlias = Literal["auto", "flat", "ivf"]

FLAT_ROWS = 100_000
"""Up to so many vectors `auto` compares every one: under 10 ms a query on one core."""

FEWEST_CLUSTERED = 1_000
"""Below this an `ivf` corpus is flat still: too little to train on, and nothing to gain."""


@dataclass(frozen=True, slots=True)
class IndexPolicy:
    """What the owner of a corpus wants of its index.

    Args:
        kind: `flat` compares every vector; `ivf` looks at the nearest clusters only; `auto` is
            flat up to 100,000 vectors and ivf above.
        recall: The share of the true ten nearest that an ivf index is to find, 0.5 to 0.999;
            more costs time in proportion to the clusters looked at.

    Raises:
        InputError: An unknown kind, or a recall out of its range.
    """

    kind: IndexKind = "auto"
    recall: float = 0.98

    def __post_init__(self) -> None:
        if self.kind not in ("auto", "flat", "ivf"):
            raise InputError(
                "An index is auto, flat or ivf.",
                field="index.kind",
                given=self.kind,
                remedy="Leave it out to have it chosen by size.",
            )
        if not 0.5 <= self.recall <= 0.999:
            raise InputError(
                "A recall from 0.5 to 0.999 is due.",
                field="index.recall",
                given=self.recall,
                remedy="For 1, ask for the kind flat.",
            )

    def wants_clusters(self, rows: int) -> bool:
        """Whether `rows` vectors are to be clustered."""
        if self.kind == "flat":
            return False
        return rows > (FLAT_ROWS if self.kind == "auto" else FEWEST_CLUSTERED)


def policy_to_json(policy: IndexPolicy) -> bytes:
    """Return `policy` as its file holds it."""
    return orjson.dumps({"kind": policy.kind, "recall": policy.recall})


def read_policy(path: Path) -> IndexPolicy:
    """Return the policy in the file at `path`; the default where there is none.

    Raises:
        StorageError: It is damaged, or cannot be read.
    """
    try:
        return policy_from_json(path.read_bytes())
    except FileNotFoundError:  # a corpus of before there was a choice
        return IndexPolicy()
    except OSError as error:
        raise StorageError(
            f"The index policy cannot be read: {error.strerror or error}.", path=path
        ) from error


def policy_from_json(content: bytes) -> IndexPolicy:
    """Return the policy that a file holds.

    Raises:
        StorageError: It is damaged.
    """
    try:
        fields = orjson.loads(content)
        return IndexPolicy(fields["kind"], fields["recall"])
    except (orjson.JSONDecodeError, KeyError, TypeError, InputError) as error:
        raise StorageError(
            f"The index policy is damaged: {error}", remedy="Delete the file: the default holds."
        ) from None
