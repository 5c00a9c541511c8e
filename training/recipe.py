"""What a recipe is, how one is found by name, and how its parameters are changed.

A recipe is one file in `training.recipes`: a frozen dataclass of parameters, its values at the
three scales, and functions that put parts together. It is found by its module's name; there is no
list.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import math
import pkgutil
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import torch
from torch import nn

from service.errors import InputError, NotFoundError
from training.export import Model
from training.loop import Phase
from training.parameters import Bounds
from training.workspace import Workspace

Scale = Literal["smoke", "small", "paper"]
SCALES: tuple[Scale, ...] = get_args(Scale)

P = TypeVar("P")
"""A recipe's own dataclass of parameters."""

Taken = TypeVar("Taken", contravariant=True)
"""What a stage takes: a recipe's parameters, or those of a recipe that they extend."""

Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage(Generic[Taken]):
    """A named part of a recipe that runs the loop once.

    Most recipes have one. A later stage may build on the weights of an earlier one, which it gets
    from the workspace by the earlier stage's name: hard negatives mined with a model that was
    trained without them, shared layers upon a frozen translation model.

    Attributes:
        name: Of its directory.
        build: Makes what the loop runs.
        needed: Whether it is, by parameters that may take its place.
        unread: Parameters that neither it nor a stage before reads, so that runs which differ in
            them alone may share what is trained; None where it is not shared.
    """

    name: str
    build: Callable[[Taken, Workspace], Phase[Any]]
    needed: Callable[[Taken], bool] = lambda _: True
    unread: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Generic[P]):
    """A system and how it is trained.

    Attributes:
        name: The module's name, as typed after `interlingua train`.
        summary: One line for `interlingua recipes`.
        scales: The parameters at each scale.
        minutes: Expected on two cores at scale `small`, from raw files to bundle.
        stages: Run in order.
        model: What is exported after the last stage, from the workspace's trained weights.
        systems: The name of each system of the paper -> the `key=value` that choose it. Where there
            are none, the recipe is one system, of its own name.
        network: What is trained, untrained, with vocabularies as large as the parameters allow; its
            weights are counted. None where the text alone decides how many there are.
        exported: Parameters that the export alone reads, so that a trained run may be exported with
            others.
    """

    name: str
    summary: str
    scales: Mapping[Scale, P]
    minutes: float
    stages: tuple[Stage[P], ...]
    model: Callable[[P, Workspace], Model]
    systems: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    network: Callable[[P], nn.Module] | None = None
    exported: tuple[str, ...] = ()

    def variants(self) -> Mapping[str, tuple[str, ...]]:
        """Return `systems`, or the recipe as the one system that it is."""
        return self.systems or {self.name: ()}


def at_scales(*, smoke: P, small: P, paper: P) -> Mapping[Scale, P]:
    """Return the parameters of a recipe at each scale."""
    return types.MappingProxyType({"smoke": smoke, "small": small, "paper": paper})


def recipe_names() -> tuple[str, ...]:
    """Return the names of all recipes, without importing them."""
    package = importlib.import_module("training.recipes")
    return tuple(
        sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(package.__path__))
    )


def find_recipe(name: str) -> Recipe[Any]:
    """Return the recipe of that name.

    Raises:
        NotFoundError: There is none.
    """
    names = recipe_names()
    if name not in names:
        raise NotFoundError(
            "There is no recipe of that name.",
            field="recipe",
            given=name,
            remedy=_suggest(name, names),
        )
    module = importlib.import_module(f"training.recipes.{name.replace('-', '_')}")
    return cast(Recipe[Any], module.RECIPE)


def change(parameters: P, assignments: Sequence[str]) -> P:
    """Return `parameters` with each `key=value` of `assignments` applied.

    Values are read by the type of the parameter: numbers, `true` and `false`, `none`, and lists
    with commas, in which a name counts once. There are no whole numbers below 0, no numbers that
    are not finite and none outside the bounds of their parameter.

    Raises:
        InputError: A key that the recipe does not have (the nearest one is named), a value of the
            wrong kind, or a combination that the recipe refuses.
    """
    kinds = get_type_hints(type(parameters), include_extras=True)
    names = [field.name for field in dataclasses.fields(cast(Any, parameters))]
    changed: dict[str, object] = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if key not in names:
            raise InputError(
                "There is no such parameter.",
                field="--set",
                given=key,
                remedy=_suggest(key, names),
            )
        if not equals:
            raise InputError(f"A value is due: --set {key}=VALUE.", field="--set", given=assignment)
        changed[key] = _read(key, value, kinds[key])
    try:
        return cast(P, dataclasses.replace(cast(Any, parameters), **changed))
    except ValueError as error:
        raise InputError(str(error), field="--set") from error


def count_weights(recipe: Recipe[P], parameters: P) -> int | None:
    """Return how many numbers are trained; None where the text decides."""
    if recipe.network is None:
        return None
    with torch.device("meta"):  # shapes without memory
        return sum(weight.numel() for weight in recipe.network(parameters).parameters())


def flatten(parameters: object) -> dict[str, Value]:
    """Return the parameters as the manifest holds them: plain values by name."""
    flat: dict[str, Value] = {}
    for field in dataclasses.fields(cast(Any, parameters)):
        value = getattr(parameters, field.name)
        plain = value is None or isinstance(value, str | int | float | bool)
        flat[field.name] = value if plain else " ".join(map(str, value))
    return flat


LATER: Mapping[str, bool] = types.MappingProxyType({"later": True})
"""Metadata of a field that a recipe got when there were runs without it.

Its default does what was done before. With that, runs are told apart as if there were no such
parameter.
"""


def distinguishing(parameters: object) -> dict[str, Value]:
    """Return `flatten` without what came later (`LATER`) and does what was done before."""
    before = _before(parameters)
    return {
        name: value
        for name, value in flatten(parameters).items()
        if name not in before or value != before[name]
    }


def _before(parameters: object) -> dict[str, Value]:
    """Return what came later, with the values that do what was done before."""
    return {
        field.name: cast(Value, field.default)
        for field in dataclasses.fields(cast(Any, parameters))
        if field.metadata == LATER
    }


def changes(parameters: object, flat: Mapping[str, Value]) -> list[str]:
    """Return the `key=value` that make of `parameters` those that are described by `flat`.

    Args:
        parameters: Of the same recipe.
        flat: From `flatten` or `distinguishing`.
    """
    kinds = get_type_hints(type(parameters))
    now = flatten(parameters)
    return [
        # Only lists are held with blanks in place of commas; a file's name may have its own.
        f"{key}={written(value) if get_origin(kinds.get(key)) is tuple or value is None else value}"
        for key, value in {**_before(parameters), **flat}.items()
        if now.get(key) != value
    ]


def written(value: Value) -> str:
    """Return a plain value as it is typed after `--set key=`."""
    if isinstance(value, str):
        return value.replace(" ", ",")
    return "none" if value is None else str(value).lower()


def _suggest(name: str, names: Sequence[str]) -> str:
    folded = {known.casefold(): known for known in names}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    listed = ", ".join(names)
    return (f"Did you mean {folded[near[0]]!r}? " if near else "") + f"There are: {listed}."


def _read(key: str, text: str, kind: Any) -> object:  # noqa: ANN401 - an annotation
    """Return `text` as a value of the annotation `kind`."""
    if get_origin(kind) in (Union, types.UnionType):
        if text.lower() == "none" and type(None) in get_args(kind):
            return None
        kind = next(part for part in get_args(kind) if part is not type(None))
    if get_origin(kind) is Annotated:
        number, bounds = get_args(kind)
        return _read_plain(key, text, number, bounds)
    if get_origin(kind) is tuple:
        item = get_args(kind)[0]
        parts = (part.strip() for part in text.split(","))
        items = [_read(key, part, item) for part in parts if part]
        return tuple(dict.fromkeys(items) if item is str else items)  # names say all once
    if get_origin(kind) is Literal:
        if text in get_args(kind):
            return text
        raise InputError(
            f"{key} has no such value.",
            field=key,
            given=text,
            remedy=_suggest(text, [str(option) for option in get_args(kind)]),
        )
    if kind is bool:
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        raise InputError(f"{key} is true or false.", field=key, given=text)
    return _read_plain(key, text, kind)


def _read_plain(key: str, text: str, kind: type, bounds: Bounds | None = None) -> object:
    """Return `text` as a number within `bounds` or as text; whole numbers always have a least."""
    try:
        value: Any = kind(text)
    except ValueError:
        raise InputError(f"{key} takes {kind.__name__}.", field=key, given=text) from None
    if kind is float and not math.isfinite(value):
        raise InputError(f"{key} is a finite number.", field=key, given=text)
    allowed = bounds or (Bounds() if kind is int else None)
    if allowed is not None and not allowed.hold(value):
        raise InputError(
            f"{key} is {allowed}.",
            field=key,
            given=text,
            remedy=f"Name another value: --set {key}=VALUE.",
        )
    return value
