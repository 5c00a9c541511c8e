from __future__ import annotations

import resource
from collections.abc import Iterable, Iterator
from contextlib import ExitStack

import pytest

from service.classification import examples as module
from service.classification.example import Example
from service.classification.examples import Contradictions, ExampleCollector
from service.errors import InputError, StorageError, TooLargeError

OPEN = ExitStack()


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    with OPEN:
        yield


def _collect(
    rows: list[tuple[str, str]], *, contradictions: Contradictions = "refuse"
) -> ExampleCollector:
    collector = OPEN.enter_context(
        ExampleCollector(multi_label=False, contradictions=contradictions)
    )
    for text, label in rows:
        collector.add(Example(text, (label,)))
    return collector


def test_texts_come_back_in_order_and_as_often_as_asked() -> None:
    rows = [(f"text\n{number}", "ab"[number % 2]) for number in range(10)]
    found = _collect(rows).finish()
    for _ in range(2):
        batches = list(found.batches(4))
        assert list(map(len, batches)) == [4, 4, 2]
        assert [text for batch in batches for text, _ in batch] == [text for text, _ in rows]
    assert found.labels == ("a", "b")
    assert found.targets.tolist() == [0, 1] * 5


def test_contradictory_texts_are_dropped_whole() -> None:
    rows = [("x", "a"), ("y", "a"), ("x", "b"), ("z", "b"), ("w", "b"), ("v", "a"), ("x", "a")]
    found = _collect(rows, contradictions="drop").finish()
    assert [text for batch in found.batches(9) for text, _ in batch] == ["y", "z", "w", "v"]
    assert found.targets.tolist() == [0, 1, 1, 0]
    assert found.dropped == 3
    with pytest.raises(InputError, match="'a' in example 1 and 'b' in example 3"):
        _collect(rows)


def test_the_same_text_with_the_same_label_is_no_contradiction() -> None:
    assert len(_collect([("x", "a"), ("x", "a"), ("y", "b"), ("y", "b")]).finish()) == 4


def test_examples_of_a_group_share_a_number_and_others_have_their_own() -> None:
    collector = OPEN.enter_context(ExampleCollector(multi_label=False))
    for number, group in enumerate(["one", "two", None, "one", None, "two"]):
        collector.add(Example(f"text {number}", ("ab"[number % 2],), group=group))
    groups = collector.finish().groups
    assert groups is not None
    first, second, third, fourth, fifth, sixth = groups.tolist()
    assert (first, second) == (fourth, sixth)
    assert len({first, second, third, fifth}) == 4
    assert _collect([("x", "a"), ("y", "a"), ("z", "b"), ("w", "b")]).finish().groups is None


def test_a_single_group_is_refused() -> None:
    collector = OPEN.enter_context(ExampleCollector(multi_label=False))
    for number in range(4):
        collector.add(Example(f"text {number}", ("ab"[number % 2],), group="all"))
    with pytest.raises(InputError, match="one group"):
        collector.finish()


@pytest.mark.parametrize(("limit", "count"), [("MAX_LABELS", 3), ("MAX_EXAMPLES", 3)])
def test_limits_are_kept_at_the_first_beyond(
    monkeypatch: pytest.MonkeyPatch, limit: str, count: int
) -> None:
    monkeypatch.setattr(module, limit, count)
    rows = [(f"text {number}", f"label {number}") for number in range(count)]
    collector = _collect(rows)
    with pytest.raises(TooLargeError):
        collector.add(Example("one more", ("one more",)))


def test_a_label_without_enough_examples_is_named_unless_described() -> None:
    rows = [("x", "a"), ("y", "a"), ("z", "rare")]
    with pytest.raises(InputError, match=r"'rare' \(1\)"):
        _collect(rows).finish()
    found = _collect(rows).finish(("a", "rare", "never seen"))
    assert found.by_label == {"a": 2, "never seen": 0, "rare": 1}


def add_all(collector: ExampleCollector, examples: Iterable[Example]) -> None:
    for example in examples:
        collector.add(example)


def test_a_full_disk_is_a_refusal_of_the_storage() -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with ExampleCollector(multi_label=False) as collector:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
        try:
            with pytest.raises(StorageError, match="cannot be kept") as refused:
                add_all(collector, (Example(f"{n}" * 1_000_000, ("a",)) for n in range(8)))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "temporary files" in str(refused.value)
