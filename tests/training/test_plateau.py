"""The learning rate that goes down where development does not get better."""

from __future__ import annotations

from training.plateau import Plateau


def test_it_goes_down_once_a_round_that_brings_nothing() -> None:
    schedule = Plateau(("perplexity", "search_error"))
    factors = []
    for perplexity, error in [(50, 9), (40, 9), (45, 8), (45, 8), (44, 9), (39, 9), (39, 9)]:
        schedule.observe({"perplexity": perplexity, "search_error": error})
        factors.append(schedule.factor(123))
    # The third round is better by its error alone, the sixth by its perplexity alone.
    assert factors == [1, 1, 1, 0.5, 0.25, 0.25, 0.125]


def test_it_goes_no_lower_than_the_least() -> None:
    schedule = Plateau(("x",), down=0.1, least=0.05)
    for _ in range(9):
        schedule.observe({"x": 1.0})
    assert schedule.factor(0) == 0.05


def test_rounds_without_its_figures_are_passed_over() -> None:
    schedule = Plateau(("x",))
    schedule.observe({"x": 1.0})
    schedule.observe({"other": 2.0})
    assert schedule.factor(0) == 1


def test_it_goes_on_where_it_was() -> None:
    one, other = Plateau(("x",)), Plateau(("x",))
    for value in (3.0, 4.0, 2.0):
        one.observe({"x": value})
    other.load_state_dict(one.state_dict())
    for schedule in (one, other):
        schedule.observe({"x": 2.5})
    assert other.factor(0) == one.factor(0) == 0.25
