"""`interlingua recipes`: what can be trained."""

from __future__ import annotations

import click

from training.commands.options import need_torch


@click.command("recipes")
@click.argument("name", required=False, metavar="[RECIPE]")
def recipes(name: str | None) -> None:
    """List the recipes: languages, trained weights and minutes on two cores at scale `small`.

    With RECIPE, list the systems of its paper, the command of each, and every parameter.

    \b
    Example: interlingua recipes fast
    """
    need_torch()
    from training.listing import recipe_tables, recipes_table
    from training.recipe import find_recipe, recipe_names

    click.echo(recipe_tables(find_recipe(name)) if name else recipes_table(recipe_names()))
