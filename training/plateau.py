"""A learning rate that is lowered each time development does not get better."""

from __future__ import annotations

from collections.abc import Mapping

from training.data.batches import State


class Plateau:
    """The factor is `down` to the number of development rounds that brought nothing better.

    Schwenk & Douze 2017, section 4.1: "The initial learning rate is set to 0.01 and decreased each
    time performance on the Dev data does not improve. Performance is measured by perplexity for the
    decoders and similarity error at the embedding layer for the encoders." By how much is not
    said. A round is better when any of the figures that are watched is below its best: the rate
    stays while either side still learns.

    Args:
        watch: Names of the figures; of each, less is better.
        down: The factor of one step down.
        least: The factor goes no lower.
    """

    def __init__(self, watch: tuple[str, ...], *, down: float = 0.5, least: float = 1e-3) -> None:
        self._watch = watch
        self._down = down
        self._least = least
        self._best: dict[str, float] = {}
        self._steps_down = 0

    def factor(self, step: int) -> float:  # noqa: ARG002
        """Return the factor; the step does not matter."""
        return max(self._down**self._steps_down, self._least)

    def observe(self, metrics: Mapping[str, float]) -> None:
        """Go a step down unless a figure is the best yet; figures not measured are passed over."""
        measured = {name: metrics[name] for name in self._watch if name in metrics}
        better = {
            name: value
            for name, value in measured.items()
            if value < self._best.get(name, float("inf"))
        }
        self._best.update(better)
        if measured and not better:
            self._steps_down += 1

    def state_dict(self) -> State:
        """Return the best figures and the steps down."""
        best: State = {f"best_{name}": value for name, value in self._best.items()}
        return {"steps_down": self._steps_down, **best}

    def load_state_dict(self, state: State) -> None:
        """Go on from where `state_dict` was taken."""
        down = state["steps_down"]
        if not isinstance(down, int):
            raise TypeError("not the state of this schedule; this is a bug")
        self._steps_down = down
        self._best = {
            name.removeprefix("best_"): value
            for name, value in state.items()
            if isinstance(value, float)
        }
