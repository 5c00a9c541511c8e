"""Recipes by name, and changes to their parameters."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal

import pytest
import torch

from service.errors import InputError, NotFoundError
from training.parameters import Part, Rate, Size, Weight
from training.recipe import (
    LATER,
    SCALES,
    change,
    changes,
    count_weights,
    distinguishing,
    find_recipe,
    flatten,
    recipe_names,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parameters:
    steps: int = 10
    size: Size = 8
    rate: float = 0.5
    share: float | None = None
    clip: Rate = 1.0
    dropout: Part = 0.1
    weight: Weight = 1.0
    pool: Size | None = None
    shuffle: bool = False
    kind: Literal["a", "b"] = "a"
    languages: tuple[str, ...] = ("en", "de")
    cuts: tuple[int, ...] = (64,)
    file: str | None = None

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError("steps is at least 1")


@pytest.mark.parametrize(
    ("assignment", "value"),
    [
        ("steps=7", 7),
        ("rate=1e-3", 1e-3),
        ("size=1", 1),
        ("share=0.5", 0.5),
        ("share=none", None),
        ("clip=1e-9", 1e-9),
        ("dropout=0", 0.0),
        ("weight=0", 0.0),
        ("pool=none", None),
        ("pool=1", 1),
        ("shuffle=true", True),
        ("kind=b", "b"),
        ("languages=fr,ja", ("fr", "ja")),
        ("languages=fr, ja,fr", ("fr", "ja")),
        ("cuts=32,32", (32, 32)),
        ("cuts=32,16", (32, 16)),
        ("cuts=", ()),
    ],
)
def test_values_are_read_by_their_type(assignment: str, value: object) -> None:
    changed = change(_Parameters(), [assignment])
    assert getattr(changed, assignment.partition("=")[0]) == value


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("stepz=7", "Did you mean 'steps'"),
        ("steps", "A value is due"),
        ("steps=many", "steps takes int"),
        ("shuffle=yes", "true or false"),
        ("kind=B", "Did you mean 'b'"),
        ("kind=z", "kind has no such value.*There are: a, b"),
        ("cuts=x", "cuts takes int"),
        ("steps=0", "steps is at least 1"),
        ("steps=-7", "steps is 0 or more"),
        ("size=0", "size is 1 or more"),
        ("size=-2", "size is 1 or more"),
        ("rate=nan", "rate is a finite number"),
        ("rate=inf", "rate is a finite number"),
        ("clip=0", "clip is above 0"),
        ("clip=-1", "clip is above 0"),
        ("dropout=1", "dropout is 0 or more and below 1"),
        ("dropout=-0.1", "dropout is 0 or more and below 1"),
        ("weight=-1", "weight is 0 or more"),
        ("pool=0", "pool is 1 or more"),
    ],
)
def test_what_cannot_be_is_refused(assignment: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        change(_Parameters(), [assignment])


def test_the_manifest_gets_plain_values() -> None:
    flat = flatten(_Parameters())
    assert flat["languages"] == "en de"
    assert flat["share"] is None
    assert flat["steps"] == 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grown(_Parameters):
    bias: Weight = dataclasses.field(default=0.0, metadata=LATER)


def test_a_later_parameter_tells_runs_apart_only_where_it_changes_something() -> None:
    assert distinguishing(_Grown()) == distinguishing(_Parameters()) == flatten(_Parameters())
    grown = change(_Grown(), ["bias=1"])
    assert distinguishing(grown) == {**flatten(_Parameters()), "bias": 1.0}
    assert flatten(_Grown())["bias"] == 0.0
    # A scale may have another value: a run without the parameter did what was done before.
    assert change(grown, changes(grown, flatten(_Parameters()))) == _Grown()
    assert change(grown, changes(grown, distinguishing(grown))) == grown


@pytest.mark.parametrize(
    "assignments",
    [["file=my vectors/a.txt", "languages=fr,ja"], ["share=0.5", "shuffle=true"], ["cuts="], []],
)
def test_parameters_are_read_back_from_their_plain_values(assignments: list[str]) -> None:
    changed = change(_Parameters(), assignments)
    assert change(_Parameters(), changes(_Parameters(), flatten(changed))) == changed
    assert change(changed, changes(changed, flatten(_Parameters()))) == _Parameters()


def test_an_unknown_recipe_is_refused_with_the_nearest() -> None:
    with pytest.raises(NotFoundError, match="Did you mean 'fast'"):
        find_recipe("fats")


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_has_its_scales(name: str) -> None:
    recipe = find_recipe(name)
    assert recipe.name == name
    assert set(recipe.scales) == set(SCALES)
    assert recipe.summary
    assert recipe.stages


def test_the_default_encoder_refuses_what_cannot_be() -> None:
    small = find_recipe("fast").scales["small"]
    with pytest.raises(InputError, match="teacher's 384"):
        change(small, ["dimension=256"])
    assert change(small, ["dimension=256", "distillation=0", "cuts=64"]).dimension == 256


@pytest.mark.parametrize("name", recipe_names())
def test_no_size_is_zero(name: str) -> None:
    """It is refused by name, before any text is read."""
    small = find_recipe(name).scales["small"]
    names = {field.name for field in dataclasses.fields(small)}
    sizes = names & {
        *("batch", "batch_tokens", "longest", "pieces", "steps", "width", "heads", "layers"),
        *("embedding", "max_tokens", "draws", "iterations", "tokens"),
    }
    if "start" in names:
        sizes.remove("steps")  # none leaves a bundle as it is
    assert len(sizes) >= 4
    for size in sizes:
        with pytest.raises(InputError) as caught:
            change(small, [f"{size}=0"])
        assert caught.value.field == size


@pytest.mark.parametrize(
    ("name", "assignment"),
    [
        *(("yu", "dropout=2"), ("yu", "dropout=-1"), ("yu", "rate=-1"), ("yu", "clip=0")),
        *(("chidambaram", "rate=-0.01"), ("chidambaram", "dropout=1")),
        *(("schwenk", "rate=0"), ("schwenk", "clip=-1"), ("schwenk", "dropout=1.5")),
        *(("bicvm", "rate=-0.1"), ("bicvm", "margin=-5"), ("bicvm", "l2=-1")),
        *(("li-ntdv", "rate=0"), ("li-ntdv", "clip=0"), ("li-laser", "beta=-1")),
        *(("li-tmde", "dropout=1.5"), ("li-tmde", "smoothing=2"), ("li-tmde", "decay=-1")),
        *(("li-tmde", "warm_up=0"), ("li-tmde", "beta=-1"), ("li-tmde", "margin=-3")),
    ],
)
def test_no_rate_weight_or_part_is_out_of_its_bounds(name: str, assignment: str) -> None:
    key, _, value = assignment.partition("=")
    with pytest.raises(InputError) as caught:
        change(find_recipe(name).scales["small"], [assignment])
    assert (caught.value.field, caught.value.given) == (key, repr(value))
    assert key in str(caught.value.remedy)


@pytest.mark.parametrize("name", recipe_names())
def test_every_system_can_be_chosen_at_every_scale(name: str) -> None:
    recipe = find_recipe(name)
    chosen = [change(recipe.scales[s], a) for s in SCALES for a in recipe.variants().values()]
    assert len(set(map(repr, chosen))) == len(chosen)


def test_weights_are_counted_without_making_them() -> None:
    recipe = find_recipe("fast")
    assert count_weights(recipe, recipe.scales["small"]) == 56_000 * 384
    own = dataclasses.replace(recipe, network=lambda _: torch.nn.Linear(10**6, 10**6, bias=False))
    assert count_weights(own, recipe.scales["small"]) == 10**12
    assert count_weights(dataclasses.replace(recipe, network=None), own.scales["small"]) is None
