"""Row-wise Adam, against torch's."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch.nn import Parameter, functional

from training.optimisers import RowAdam


def _gradient(table: Parameter, rows: list[int], seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    weights = torch.randn(len(rows), table.shape[1], generator=generator)
    table.grad = None
    loss = (functional.embedding(torch.tensor(rows), table, sparse=True) * weights).sum()
    loss.backward()  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("repeated", [False, True])
def test_it_does_what_sparse_adam_does(repeated: bool) -> None:
    start = torch.randn(8, 4, generator=torch.Generator().manual_seed(0))
    ours, theirs = Parameter(start.clone()), Parameter(start.clone())
    optimiser = RowAdam([ours], lr=0.1)
    reference = torch.optim.SparseAdam([theirs], lr=0.1)
    for step in range(5):
        rows = [1, 5, 2, 5] if repeated else [step % 3, 4, 7]
        for table, one in ((ours, optimiser), (theirs, reference)):
            _gradient(table, rows, step)
            one.step()
    torch.testing.assert_close(ours.data, theirs.data)
    assert torch.equal(ours[3].data, start[3])


def test_its_state_goes_through_a_checkpoint() -> None:
    first, second = (Parameter(torch.ones(4, 2)) for _ in range(2))
    one, other = RowAdam([first], lr=0.1), RowAdam([second], lr=0.1)
    _gradient(first, [0, 2], 0)
    one.step()
    second.data.copy_(first.data)
    other.load_state_dict(deepcopy(one.state_dict()))
    for table, optimiser in ((first, one), (second, other)):
        _gradient(table, [1, 2], 1)
        optimiser.step()
    assert torch.equal(first.data, second.data)
