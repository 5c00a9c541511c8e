"""What recipes there are, and what one of them offers, as tables for people."""

from __future__ import annotations

from typing import Any

from training.recipe import SCALES, Recipe, change, count_weights, find_recipe, flatten, written
from training.tables import format_table

_FEW = 6
"""Languages that are named one by one."""


def recipes_table(names: tuple[str, ...]) -> str:
    """Return a line a recipe, at scale `small`: languages, trained weights, minutes."""
    rows = []
    for name in names:
        recipe = find_recipe(name)
        small = recipe.scales["small"]
        rows.append(
            [
                name,
                _languages(small),
                _weights(count_weights(recipe, small)),
                f"{recipe.minutes:.0f}",
                str(len(recipe.variants())),
                recipe.summary,
            ]
        )
    header = ["recipe", "languages", "weights", "minutes", "systems", "what it is"]
    return format_table(header, rows, text=(1, 5))


def recipe_tables(recipe: Recipe[Any]) -> str:
    """Return the systems of a recipe and how each is named, and its parameters by scale."""
    small = recipe.scales["small"]
    systems = [
        [
            system,
            _weights(count_weights(recipe, change(small, assignments))),
            " ".join(
                [f"interlingua train {recipe.name}", *(f"--set {part}" for part in assignments)]
            ),
        ]
        for system, assignments in recipe.variants().items()
    ]
    flat = [flatten(recipe.scales[scale]) for scale in SCALES]
    # Its own come first, then those that it has in common with others.
    own = type(small).__annotations__
    keys = sorted(flat[0], key=lambda key: key not in own)
    parameters = [[key, *(written(values[key]) for values in flat)] for key in keys]
    return "\n\n".join(
        [
            f"{recipe.name}: {recipe.summary}",
            format_table(["system", "weights (small)", "command"], systems, text=(2,)),
            format_table(["--set", *SCALES], parameters, text=(1, 2, 3)),
        ]
    )


def _weights(count: int | None) -> str:
    return "by the text" if count is None else f"{count / 1e6:.1f} M"


def _languages(parameters: object) -> str:
    languages = getattr(parameters, "languages", ())
    named = " ".join(languages[:_FEW])
    return named if len(languages) <= _FEW else f"{named} ... {len(languages)}"
