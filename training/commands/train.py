"""`interlingua train RECIPE`, and what is trained without a recipe."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from training.commands.heads import head, heads
from training.commands.options import DATA, need_torch

if TYPE_CHECKING:
    from training.loop import Precision
    from training.recipe import Scale


class _Train(click.Group):
    """`interlingua train RECIPE`: every recipe is a command, found by its file's name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the recipes, and what is trained without one."""
        import pkgutil

        import training.recipes

        names = [module.name for module in pkgutil.iter_modules(training.recipes.__path__)]
        return [*sorted(name.replace("_", "-") for name in names), *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a recipe; an unknown name is refused with the nearest one."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        names = self.list_commands(ctx)
        if cmd_name not in names:
            import difflib

            near = difflib.get_close_matches(cmd_name, names, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"No recipe {cmd_name!r}.{hint} There are: {', '.join(names)}.")
        return _recipe_command(cmd_name)


@click.group("train", cls=_Train, subcommand_metavar="RECIPE [OPTIONS]")
def train() -> None:
    """Train a model by a recipe, from raw files to a measured bundle.

    A run that was broken off goes on where it was when the same command is given again.

    \b
    Example: interlingua train fast --scale small --data ./data
    """


def _recipe_command(name: str) -> click.Command:
    @click.command(name, help=f"Train the recipe `{name}`.")
    @click.option(
        "--scale",
        type=click.Choice(["smoke", "small", "paper"]),
        default="small",
        show_default=True,
        help="smoke: seconds, on made-up sentences. small: minutes to hours. paper: its own sizes.",
    )
    @DATA
    @click.option(
        "--out", type=click.Path(path_type=Path), help="Run directory. [default: runs/RECIPE-SCALE]"
    )
    @click.option(
        "--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Change a parameter."
    )
    @click.option("--fresh", is_flag=True, help="Begin anew where a run is there already.")
    @click.option(
        "--patience",
        type=click.IntRange(1),
        help="Stop after so many development rounds without a better one, and keep the best.",
    )
    @click.option(
        "--corpora",
        type=click.Path(path_type=Path, file_okay=False),
        help="Keep the cleaned text here, for all runs that read the same, and stages that they "
        "have in common.",
    )
    @click.option("--no-measure", is_flag=True, help="Leave out the measurement at the end.")
    @click.option(
        "--precision",
        type=click.Choice(["fp32", "bf16"]),
        help="Of products; bf16 pays where the device has it. [default: the recipe's]",
    )
    def command(
        scale: str,
        data: Path | None,
        out: Path | None,
        assignments: tuple[str, ...],
        fresh: bool,
        patience: int | None,
        corpora: Path | None,
        no_measure: bool,
        precision: str | None,
    ) -> None:
        need_torch()
        from training.evaluation.defaults import evaluate_command, measurable
        from training.parallel import process_group, rank
        from training.progress import Progress
        from training.run import measure, open_run
        from training.run import train as train_run

        directory = out or Path("runs") / f"{name}-{scale}"
        with process_group():
            progress = Progress(sys.stderr if rank() == 0 else None)
            run = open_run(
                name,
                cast("Scale", scale),
                directory,
                data=data,
                assignments=assignments,
                fresh=fresh,
                corpora=corpora,
                progress=progress,
            )
            try:
                bundle = train_run(
                    run, patience=patience, precision=cast("Precision | None", precision)
                )
            except KeyboardInterrupt:
                click.echo(f"The same command goes on from what {directory} holds.", err=True)
                raise
            if bundle is not None and not no_measure:
                protocols = measurable(run.work.folder, bundle.manifest.languages)
                command = evaluate_command(bundle.manifest.name, protocols)
                measure(bundle, protocols, run.work.folder, command=command, progress=progress)
            if bundle is not None:
                click.echo(str(bundle.directory))

    return command


train.add_command(head)
train.add_command(heads)
