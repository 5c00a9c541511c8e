"""Adam and AdaGrad that touch only the rows of a batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import Parameter


class _ByRow(torch.optim.Optimizer):
    """Updates the rows of each table that have a gradient, and no others."""

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Update the rows that have a gradient."""
        if closure is not None:
            raise ValueError("closures are not used here; this is a bug")
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update(parameter, group)

    def _update(self, table: Tensor, group: Mapping[str, Any]) -> None:
        """Update the rows of `table` that have a gradient, as the parameters of `group` say."""
        raise NotImplementedError


class RowAdam(_ByRow):
    """Adam (Kingma & Ba 2015) for tables with sparse gradients, row by row.

    As in `torch.optim.SparseAdam`, moments of rows without a gradient stand still ("lazy"). That
    one sorts and sums the gradient's rows again; here they come unique and sorted, which saves a
    third of a step of a static encoder. Gradients that are not are summed first.

    Args:
        parameters: Tables [V, D].
        lr: Learning rate.
        betas: Decay of the two moments.
        epsilon: Keeps the division finite.
    """

    def __init__(
        self,
        parameters: Iterable[Parameter],
        *,
        lr: float,
        betas: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
    ) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "epsilon": epsilon})

    def _update(self, table: Tensor, group: Mapping[str, Any]) -> None:
        rate, betas, epsilon = group["lr"], group["betas"], group["epsilon"]
        state = self.state[table]
        if not state:
            state["step"] = 0
            state["first"] = torch.zeros_like(table)
            state["second"] = torch.zeros_like(table)
        state["step"] += 1
        assert table.grad is not None
        rows, gradient = _unique_rows(table.grad)
        first = state["first"][rows].lerp_(gradient, 1 - betas[0])
        second = (
            state["second"][rows].mul_(betas[1]).addcmul_(gradient, gradient, value=1 - betas[1])
        )
        state["first"][rows] = first
        state["second"][rows] = second
        bias = 1 - betas[0] ** state["step"]
        spread = second.sqrt_().div_(math.sqrt(1 - betas[1] ** state["step"])).add_(epsilon)
        table[rows] = table[rows].addcdiv_(first, spread, value=-rate / bias)


class RowAdagrad(_ByRow):
    """AdaGrad (Duchi et al. 2011) with L2 for tables with sparse gradients, row by row.

    With g the gradient of a row and w the row: s += (g + l2 w)^2, w -= lr (g + l2 w) / sqrt(s).

    Departure: a row's share of the L2 term (Hermann & Blunsom 2013, eq. 7) is taken when the row
    next has a gradient, for all the steps since it last had one; to touch every row at every step
    would cost more than all the rest.

    Args:
        parameters: Tables [V, D].
        lr: Learning rate.
        l2: Weight of |w|^2 / 2 in the loss of one step.
        epsilon: Keeps the division finite.
    """

    def __init__(
        self, parameters: Iterable[Parameter], *, lr: float, l2: float = 0.0, epsilon: float = 1e-10
    ) -> None:
        super().__init__(parameters, {"lr": lr, "l2": l2, "epsilon": epsilon})

    def _update(self, table: Tensor, group: Mapping[str, Any]) -> None:
        rate, l2, epsilon = group["lr"], group["l2"], group["epsilon"]
        state = self.state[table]
        if not state:
            state["step"] = 0
            state["sum"] = torch.zeros_like(table)
            state["last"] = table.new_zeros(len(table))
        state["step"] += 1
        assert table.grad is not None
        rows, gradient = _unique_rows(table.grad)
        values = table[rows]
        waited = state["step"] - state["last"][rows]
        gradient = gradient + l2 * waited[:, None] * values
        state["last"][rows] = state["step"]
        summed = state["sum"][rows].addcmul_(gradient, gradient)
        state["sum"][rows] = summed
        table[rows] = values.addcdiv_(gradient, summed.sqrt().add_(epsilon), value=-rate)


def sgd_with_table_factor(module: nn.Module, *, lr: float, factor: float) -> torch.optim.SGD:
    """Return SGD that goes `factor` times as far with weights whose name ends in `table`.

    Args:
        module: Whose weights.
        lr: Learning rate.
        factor: On the gradients of token and n-gram vectors.
    """
    named = dict(module.named_parameters())
    tables = [weight for name, weight in named.items() if name.endswith("table")]
    others = [weight for name, weight in named.items() if not name.endswith("table")]
    groups: list[dict[str, object]] = [
        {"params": tables, "lr": lr * factor},
        {"params": others},
    ]
    return torch.optim.SGD(groups, lr=lr)


def _unique_rows(gradient: Tensor) -> tuple[Tensor, Tensor]:
    """Return row numbers [U], ascending, and their gradients [U, D]."""
    rows, values = gradient._indices()[0], gradient._values()
    if bool((rows[1:] > rows[:-1]).all()):
        return rows, values
    summed = gradient.coalesce()
    return summed.indices()[0], summed.values()
