from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.inference.budget import LAID_OUT_SHARE
from service.inference.slices import slice_by_length

LENGTHS = st.lists(st.integers(0, 300), max_size=80)


@given(lengths=LENGTHS, budget=st.integers(1, 512))
def test_every_text_is_in_one_group_within_the_budget(lengths: list[int], budget: int) -> None:
    groups = slice_by_length(lengths, budget=budget)
    assert sorted(p for group in groups for p in group) == list(range(len(lengths)))
    for group in groups:
        padded = max(1, max(lengths[p] for p in group)) * len(group)
        assert padded <= budget or len(group) == 1


@given(lengths=LENGTHS, budget=st.integers(1, 512))
def test_without_padding_tokens_count_and_the_padded_square_is_bounded(
    lengths: list[int], budget: int
) -> None:
    groups = slice_by_length(lengths, budget=budget, pads=False)
    assert sorted(p for group in groups for p in group) == list(range(len(lengths)))
    for group in groups:
        counted = [max(1, lengths[p]) for p in group]
        laid_out = max(counted) * len(counted)
        keeps = sum(counted) <= budget and laid_out <= LAID_OUT_SHARE * budget
        assert keeps or len(group) == 1


@given(lengths=LENGTHS)
def test_groups_ascend_in_length(lengths: list[int]) -> None:
    ordered = [lengths[p] for group in slice_by_length(lengths, budget=64) for p in group]
    assert ordered == sorted(lengths)
