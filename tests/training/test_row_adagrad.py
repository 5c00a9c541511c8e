"""AdaGrad by rows against the dense algorithm."""

import numpy as np
import torch

from training.optimisers import RowAdagrad

START = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)


def sparse(rows: dict[int, float]) -> torch.Tensor:
    """Return a gradient whose rows are all of one number."""
    values = torch.tensor([[v] * 3 for v in rows.values()])
    return torch.sparse_coo_tensor(
        torch.tensor([list(rows)]), values, (4, 3), check_invariants=True
    )


def run(l2: float, gradients: list[dict[int, float]], cut: int | None = None) -> np.ndarray:
    """Return the table after the gradients; saved and loaded before step `cut`."""
    table = torch.nn.Parameter(torch.from_numpy(START.copy()))
    optimiser = RowAdagrad([table], lr=0.1, l2=l2)
    for step, rows in enumerate(gradients):
        if step == cut:
            state = optimiser.state_dict()
            optimiser = RowAdagrad([table], lr=0.1, l2=l2)
            optimiser.load_state_dict(state)
        table.grad = sparse(rows)
        optimiser.step()
    return table.detach().numpy()


STEPS: list[dict[int, float]] = [{0: 1.0, 2: -2.0}, {0: 0.5}, {2: 1.0, 0: 3.0}, {1: 0.1, 2: 0.2}]


def test_without_l2_it_is_adagrad() -> None:
    table, summed = START.astype(np.float64), np.zeros((4, 3))
    for rows in STEPS:
        dense = np.zeros((4, 3))
        for row, value in rows.items():
            dense[row] = value
        summed += dense**2
        table = table - 0.1 * dense / (np.sqrt(summed) + 1e-10)
    np.testing.assert_allclose(run(0.0, STEPS), table, rtol=1e-5)


def test_l2_is_taken_for_all_steps_since_the_row_was_last_seen() -> None:
    table = run(0.1, [{0: 1.0, 3: 0.2}, {0: 0.3}, {0: 0.1}, {3: 0.5}])
    first = 0.2 + 0.1 * START[3]
    once = START[3] - 0.1 * np.sign(first)
    again = 0.5 + 0.1 * 3 * once  # steps 2, 3 and 4
    expected = once - 0.1 * again / np.sqrt(first**2 + again**2)
    np.testing.assert_allclose(table[3], expected, rtol=1e-5)


def test_rows_without_a_gradient_stand_still() -> None:
    np.testing.assert_array_equal(run(0.5, STEPS[:3])[[1, 3]], START[[1, 3]])


def test_goes_on_from_its_state() -> None:
    np.testing.assert_array_equal(run(0.01, STEPS), run(0.01, STEPS, cut=2))
