"""Labelled examples on their way to a fit: checked as they come, texts kept on disk."""

from __future__ import annotations

import tempfile
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import BinaryIO, Literal, Self

import numpy as np
import numpy.typing as npt
import orjson

from service.classification.example import Example
from service.classification.logistic import Targets
from service.errors import InputError, StorageError, TooLargeError

MAX_LABELS = 1000
MAX_EXAMPLES = 1_000_000
MAX_CELLS = 200_000_000
"""Of the matrix of examples and labels, where a text may have several labels."""
LEAST_EXAMPLES = 2
"""Of each label: one to fit on while the other is held out."""
_SPARED_BYTES = 4_000_000
"""Texts of fewer bytes than this stay in memory."""
_LISTED = 5

Contradictions = Literal["refuse", "drop", "keep"]
"""What to do with a text that stands there with different labels."""

Text = tuple[str, str | None]
"""A text, or a pair."""


@dataclass(frozen=True, slots=True, eq=False)
class ExampleSet:
    """Checked examples.

    Attributes:
        labels: Sorted; those that were only described are among them.
        targets: int64 [N], or 0/1 uint8 [N, labels].
        languages: Of each example, or None.
        groups: Number of each example's group, int64 [N]; None where each is its own.
        by_label: How many examples each label has.
        pairs: Whether they are pairs.
        dropped: How many contradictory ones were left out.
    """

    labels: tuple[str, ...]
    targets: Targets
    languages: Sequence[str | None]
    groups: npt.NDArray[np.int64] | None
    by_label: dict[str, int]
    pairs: bool
    dropped: int
    _file: BinaryIO
    _kept: Sequence[bool] | None

    def __len__(self) -> int:
        return len(self.targets)

    def batches(self, size: int) -> Iterator[list[Text]]:
        """Give the texts in their order, `size` at a time."""
        self._file.seek(0)
        lines: Iterator[bytes] = iter(self._file)
        if self._kept is not None:
            lines = (line for line, kept in zip(self._file, self._kept, strict=True) if kept)
        texts = (orjson.loads(line) for line in lines)
        while batch := [(text, pair) for text, pair in islice(texts, size)]:
            yield batch


class ExampleCollector:
    """Takes examples one by one.

    The texts go to a nameless temporary file, which the system deletes however the process ends.

    Args:
        multi_label: Whether a text may have several labels.
        contradictions: What to do with a text that stands there with different labels.
    """

    def __init__(self, *, multi_label: bool, contradictions: Contradictions = "refuse") -> None:
        self._multi_label = multi_label
        self._contradictions = contradictions
        self._file: BinaryIO = tempfile.SpooledTemporaryFile(_SPARED_BYTES)  # type: ignore[assignment]  # noqa: SIM115
        self._numbers: dict[str, int] = {}
        self._one: array[int] = array("i")
        self._many: list[tuple[int, ...]] = []
        self._languages: list[str | None] = []
        self._groups: dict[str, int] = {}
        self._group: array[int] = array("q")
        self._keys: array[int] = array("Q")
        self._first: dict[int, int] = {}  # key of a text -> its first row
        self._contradicted: set[int] = set()
        self._pairs: bool | None = None

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, example: Example) -> None:
        """Take one more.

        Raises:
            TooLargeError: More examples or labels than are taken.
            InputError: A pair among single texts, or the reverse; a text that has another label
                elsewhere, where that is refused.
            StorageError: The temporary file cannot be written.
        """
        if len(self) >= MAX_EXAMPLES:
            raise TooLargeError(
                f"At most {MAX_EXAMPLES:,} examples are taken.",
                field="examples",
                remedy="Send a random part of them: beyond some 100,000 more hardly help.",
            )
        self._check_shape(example)
        numbers = tuple(self._number(label) for label in example.labels)
        self._check_contradiction(example, numbers)
        if self._multi_label:
            self._many.append(numbers)
        else:
            self._one.append(numbers[0])
        self._languages.append(example.language)
        self._group.append(self._group_number(example.group))
        try:
            self._file.write(orjson.dumps((example.text, example.text_pair)) + b"\n")
        except OSError as error:
            raise StorageError(
                f"The examples cannot be kept until they are fitted on: {error.strerror}.",
                remedy="Free some space for temporary files, or send fewer examples.",
            ) from error

    def finish(self, described: Sequence[str] = ()) -> ExampleSet:
        """Return what was taken.

        Args:
            described: Labels that are described in words; they need no example.

        Raises:
            InputError: Fewer than two labels, a label with too few examples, or a single group.
        """
        for label in described:
            self._number(label)
        labels = sorted(self._numbers)
        if len(labels) < 2:
            raise InputError(
                f"There {'is only the label ' + repr(labels[0]) if labels else 'are no labels'}; "
                "two are the least.",
                field="examples",
                remedy="Give examples of another label too; texts of none of your labels may be "
                "labelled other.",
            )
        kept = self._kept()
        rows = range(len(self)) if kept is None else np.flatnonzero(kept).tolist()
        targets = self._targets(labels, rows)
        by_label = _count(targets, labels)
        _check_counts(by_label, described)
        groups = np.array(self._group, dtype=np.int64)[list(rows)] if self._groups else None
        _check_groups(groups)
        return ExampleSet(
            labels=tuple(labels),
            targets=targets,
            languages=[self._languages[row] for row in rows],
            groups=groups,
            by_label=by_label,
            pairs=bool(self._pairs),
            dropped=len(self) - len(rows),
            _file=self._file,
            _kept=kept,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the texts."""
        self._file.close()

    def _group_number(self, group: str | None) -> int:
        """Return a number that examples of the same group share, and nobody else has."""
        if group is None:
            return -1 - len(self._group)
        return self._groups.setdefault(group, len(self._groups))

    def _number(self, label: str) -> int:
        number = self._numbers.setdefault(label, len(self._numbers))
        if number >= MAX_LABELS:
            raise TooLargeError(
                f"There are more than {MAX_LABELS:,} labels; a classifier has at most so many.",
                field="label",
                given=label,
                remedy="Look whether a column of ids or texts was taken for the labels. For very "
                "many classes, put the examples into a corpus and search with POST /similar.",
            )
        return number

    def _check_shape(self, example: Example) -> None:
        pairs = example.text_pair is not None
        if self._pairs is None:
            self._pairs = pairs
        if pairs != self._pairs:
            raise InputError(
                "Some examples are pairs and some are single texts.",
                field="text_pair",
                given=example.text_pair,
                remedy="Give every example a text_pair, or none.",
            )

    def _check_contradiction(self, example: Example, numbers: tuple[int, ...]) -> None:
        content = f"{example.text}\0{example.text_pair or ''}".encode()
        key = int.from_bytes(blake2b(content, digest_size=8).digest())
        row = self._first.setdefault(key, len(self._keys))
        self._keys.append(key)
        if row == len(self._keys) - 1 or self._contradictions == "keep":
            return
        before = self._many[row] if self._multi_label else (self._one[row],)
        if before == numbers:
            return
        self._contradicted.add(key)
        if self._contradictions == "refuse":
            names = {number: label for label, number in self._numbers.items()}
            said = [", ".join(names[n] for n in given) or "none" for given in (before, numbers)]
            raise InputError(
                f"The same text is labelled {said[0]!r} in example {row + 1} and {said[1]!r} in "
                f"example {len(self._keys)}.",
                field="label",
                given=example.text,
                remedy='Correct one of them; or send "contradictions": "drop" to leave such texts '
                'out, "keep" to have both count.',
            )

    def _kept(self) -> list[bool] | None:
        if not self._contradicted or self._contradictions != "drop":
            return None
        return [key not in self._contradicted for key in self._keys]

    def _targets(self, labels: Sequence[str], rows: Sequence[int]) -> Targets:
        place = np.zeros(len(labels), dtype=np.int64)
        for column, label in enumerate(labels):
            place[self._numbers[label]] = column
        if not self._multi_label:
            one = np.frombuffer(self._one, dtype=np.intc) if self._one else np.zeros(0, np.intc)
            found: Targets = place[one[list(rows)]]
            return found
        if len(rows) * len(labels) > MAX_CELLS:
            raise TooLargeError(
                f"{len(rows):,} examples with {len(labels):,} labels are too many together.",
                field="examples",
                remedy=f"Their product may be {MAX_CELLS:,}: send a random part of the examples.",
            )
        matrix = np.zeros((len(rows), len(labels)), dtype=np.uint8)
        for position, row in enumerate(rows):
            matrix[position, place[list(self._many[row])]] = 1
        return matrix


def _count(targets: Targets, labels: Sequence[str]) -> dict[str, int]:
    if targets.ndim == 2:
        counts = targets.sum(axis=0, dtype=np.int64)
    else:
        counts = np.bincount(targets, minlength=len(labels))
    return dict(zip(labels, counts.tolist(), strict=True))


def _check_groups(groups: npt.NDArray[np.int64] | None) -> None:
    if groups is not None and len(groups) and (groups == groups[0]).all():
        raise InputError(
            "All examples are of one group; one is to be held out while another is fitted on.",
            field="group",
            remedy="Give the same group to texts that say the same, such as translations, only.",
        )


def _check_counts(by_label: dict[str, int], described: Sequence[str]) -> None:
    if described:
        return
    few = Counter({label: n for label, n in by_label.items() if n < LEAST_EXAMPLES})
    if few:
        listed = ", ".join(f"{label!r} ({n})" for label, n in few.most_common()[-_LISTED:])
        raise InputError(
            f"{len(few)} {'label has' if len(few) == 1 else 'labels have'} fewer than "
            f"{LEAST_EXAMPLES} examples: {listed}.",
            field="examples",
            remedy="Give more examples of them, leave them out, or describe every label in words: "
            '"labels": {"sport": "football, athletes, matches"}.',
        )
