from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from service.classification import folds
from service.classification.example import Example
from service.classification.examples import ExampleCollector, ExampleSet
from service.classification.head import EXAMPLES_FILE
from service.classification.making import HeadPlan, described_head, make_head
from service.classification.manifest import ExamplesFrom
from service.classification.remembered import read_remembered
from service.errors import BundleError
from service.inference.encoder import Encoder

OPEN = ExitStack()


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    with OPEN:
        yield


class Patient:
    """Lets every fit run to its end; keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[int, int | None]] = []

    def progress(self, done: int, total: int | None = None, note: str | None = None) -> None:
        del note
        self.told.append((done, total))

    def check(self) -> None:
        pass


def _sorted_examples(count: int = 40) -> ExampleSet:
    """First all cats, then all bread, as files often are."""
    collector = OPEN.enter_context(ExampleCollector(multi_label=False))
    for number in range(count):
        collector.add(Example(f"The cat sleeps {number}.", ("cat",), "en"))
    for number in range(count):
        collector.add(Example(f"Fresh bread smells {number}.", ("bread",)))
    return collector.finish()


def test_a_sorted_file_is_held_out_at_random(
    tmp_path: Path, tiny_encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folds, "CROSS_VALIDATED", 50)
    head = make_head(
        HeadPlan(name="things"), _sorted_examples(), tiny_encoder, tmp_path, watcher=Patient()
    )
    report = head.manifest.report
    assert report is not None
    assert report.folds == 1
    assert report.confusion is not None
    assert all(sum(row) > 2 for row in report.confusion.rows)
    assert report.accuracy > 0.9


def test_progress_is_one_of_both_stages(tmp_path: Path, tiny_encoder: Encoder) -> None:
    patient = Patient()
    examples = _sorted_examples()
    make_head(HeadPlan(name="things"), examples, tiny_encoder, tmp_path, watcher=patient)
    assert patient.told[0] == (0, 160)
    assert patient.told[-1] == (160, 160)
    assert [done for done, _ in patient.told] == sorted(done for done, _ in patient.told)


def test_examples_are_remembered_with_their_vectors(tmp_path: Path, tiny_encoder: Encoder) -> None:
    plan = HeadPlan(name="things", corpus="notes")
    head = make_head(plan, _sorted_examples(), tiny_encoder, tmp_path, watcher=Patient())
    assert head.manifest.examples_from == ExamplesFrom(corpus="notes")
    remembered = read_remembered(tmp_path / EXAMPLES_FILE)
    assert len(remembered.examples) == 80
    vector = tiny_encoder.encode(["The cat sleeps 7."], normalize=True)[0]
    best = remembered.nearest(vector, 1)[0]
    assert (best.text, best.labels) == ("The cat sleeps 7.", ("cat",))
    assert best.score == pytest.approx(1, abs=1e-2)
    (tmp_path / EXAMPLES_FILE).write_bytes(b"\x80\x04.")
    with pytest.raises(BundleError):
        read_remembered(tmp_path / EXAMPLES_FILE)


def test_descriptions_are_calibrated_around_what_is_usual(tiny_encoder: Encoder) -> None:
    words = {"animals": "cat, Katze, chat", "food": "bread, Brot"}
    head = described_head(words, tiny_encoder)
    probabilities = head.predict(tiny_encoder.encode(["The cat sleeps.", "Fresh bread."]))
    assert probabilities.argmax(axis=1).tolist() == [0, 1]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    nothing = head.predict(np.zeros((1, tiny_encoder.dimension), dtype=np.float32))
    assert abs(nothing[0, 0] - 0.5) < 0.2
