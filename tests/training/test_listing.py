"""The tables of recipes."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.listing import recipe_tables, recipes_table
from training.recipe import change, find_recipe, recipe_names


def test_every_recipe_is_a_line_with_its_weights_and_minutes() -> None:
    header, *lines = recipes_table(recipe_names()).splitlines()
    assert header.split()[:4] == ["recipe", "languages", "weights", "minutes"]
    assert [line.split()[0] for line in lines] == list(recipe_names())
    (fast,) = (line for line in lines if line.startswith("fast "))
    assert "en de fr es it ru ... 28" in fast
    assert "21.5 M" in fast


@pytest.mark.parametrize("name", recipe_names())
def test_every_system_of_a_recipe_has_its_command(name: str) -> None:
    recipe = find_recipe(name)
    said = recipe_tables(recipe)
    commands = [line for line in said.splitlines() if f"interlingua train {name}" in line]
    assert len(commands) == len(recipe.variants())
    for (system, assignments), command in zip(recipe.variants().items(), commands, strict=True):
        assert command.startswith(system)
        typed = command.split(" --set ")[1:]
        small = recipe.scales["small"]
        assert change(small, typed) == change(small, assignments)


def test_parameters_are_shown_as_they_are_typed() -> None:
    recipe = find_recipe("fast")
    last = recipe_tables(recipe).split("\n\n")[-1]
    rows = {line.split()[0]: line.split()[1:] for line in last.splitlines()[1:]}
    for place, scale in enumerate(("smoke", "small", "paper")):
        typed = [f"{key}={values[place]}" for key, values in rows.items()]
        assert change(recipe.scales["small"], typed) == recipe.scales[scale]  # type: ignore[index]


def test_a_recipes_own_parameters_come_first() -> None:
    lines = recipe_tables(find_recipe("li-tmde")).split("\n\n")[-1].splitlines()
    keys = [line.split()[0] for line in lines[1:]]
    assert keys[:2] == ["pyramid", "sees"]
    assert keys.index("decay") < keys.index("broken")


@pytest.mark.parametrize("name", recipe_names())
def test_the_guide_has_every_system(name: str) -> None:
    guide = (Path(__file__).parents[2] / "docs/training.md").read_text(encoding="utf-8")
    row = next(line for line in guide.splitlines() if line.startswith(f"| `{name}` | "))
    recipe = find_recipe(name)
    for assignments in recipe.systems.values():
        for key in (part.partition("=")[0] for part in assignments):
            assert key in row
