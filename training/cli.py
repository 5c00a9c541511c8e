"""The training half of the `interlingua` command.

Nothing heavy is imported until a command runs: the service mounts these commands and must start
without torch.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from service.commands.model_choice import chosen_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from training.data.folder import DataFolder
    from training.loop import Precision
    from training.recipe import Scale

_DATA = click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Data folder: parallel/<source>/..., eval/<set>/... (docs/data.md).",
)


def _need_torch() -> None:
    try:
        import torch  # noqa: F401
    except ImportError:
        raise click.ClickException(
            "Training needs the extra `train`: pip install 'interlingua[cpu,train]'."
        ) from None


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
    @_DATA
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
        no_measure: bool,
        precision: str | None,
    ) -> None:
        _need_torch()
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
                progress=progress,
            )
            try:
                bundle = train_run(
                    run, patience=patience, precision=cast("Precision | None", precision)
                )
            except KeyboardInterrupt:
                raise click.ClickException(
                    f"Stopped; {directory} holds a checkpoint. The same command goes on from there."
                ) from None
            if bundle is not None and not no_measure:
                protocols = _measurable(run.work.folder, bundle.manifest.languages)
                command = _evaluate_command(bundle.manifest.name, protocols)
                measure(bundle, protocols, run.work.folder, command=command, progress=progress)
            if bundle is not None:
                click.echo(str(bundle.directory))

    return command


@train.command("head")
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    required=True,
    help="Directory of a model, or the name of a shipped or imported one.",
)
@click.option(
    "--data",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    required=True,
    help="TSV with a header; columns `text` and `label`, or `premise`, `hypothesis` and `label`; "
    "may be repeated.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Head directory.")
@click.option("--name", default=None, help="Of the head. [default: the directory's name]")
@click.option("--language", default="en", show_default=True, help="Of the texts.")
@click.option("--labels", default=None, help="Comma-separated; rows with others are left out.")
@click.option(
    "--dev",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    help="TSV to measure on, named <lang>.dev.tsv(.gz), or a folder of them; may be repeated.",
)
@click.option("--source", default=None, help="Name of the labelled text. [default: its file's]")
@click.option("--dev-source", default="", help="Name of what is measured on. [default: the same]")
@click.option("--licence", default="not stated", show_default=True, help="Of the labelled text.")
@click.option("--attribution", default="text of your own", show_default=True, help="Its authors.")
def head(
    model: Path,
    data: tuple[Path, ...],
    out: Path,
    name: str | None,
    language: str,
    labels: str | None,
    dev: tuple[Path, ...],
    source: str | None,
    dev_source: str,
    licence: str,
    attribution: str,
) -> None:
    """Fit a classifier on labelled text of one language; it then answers in all of them.

    \b
    Example: interlingua train head --model models/interlingua-fast --data en.train.tsv --out topics
    """
    _need_torch()
    from training.devices import describe_machine
    from training.heads import HeadData, train_head
    from training.progress import Progress

    files = [sorted(path.glob("*.dev.tsv*")) if path.is_dir() else [path] for path in dev]
    labelled = HeadData(
        paths=data,
        source=source or data[0].name,
        language=language,
        labels=tuple(labels.split(",")) if labels else (),
        dev=tuple(file for found in files for file in found),
        dev_source=dev_source,
        licence=licence,
        attribution=attribution,
    )
    train_head(
        chosen_model(model),
        labelled,
        out,
        name=name or out.name,
        machine=describe_machine(),
        progress=Progress(sys.stderr),
    )
    click.echo(str(out))


@train.command("heads")
@_DATA
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    required=True,
    help="Directory of a model, or the name of a shipped or imported one.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Each head goes into a directory of its name in here.",
)
def heads(data: Path | None, model: Path, out: Path) -> None:
    """Fit the heads that ship (topic, sentiment, entailment) anew, as after the encoder changed.

    \b
    Example: interlingua train heads --model models/interlingua-fast --data DIR --out models
    """
    _need_torch()
    from training.data.folder import open_folder
    from training.default_heads import train_default_heads
    from training.devices import describe_machine
    from training.progress import Progress

    for made in train_default_heads(
        chosen_model(model),
        open_folder(data).root,
        out,
        machine=describe_machine(),
        progress=Progress(sys.stderr),
    ):
        click.echo(str(made.directory))


@click.command("export")
@click.argument("run", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("directory", type=click.Path(path_type=Path))
def export_command(run: Path, directory: Path) -> None:
    """Write the trained model of RUN as a bundle into DIRECTORY, with a parity check.

    \b
    Example: interlingua export runs/fast-small models/my-encoder
    """
    _need_torch()
    from training.progress import Progress
    from training.run import reopen_run, write

    write(reopen_run(run, progress=Progress(sys.stderr)), directory)
    click.echo(str(directory))


@click.command("recipes")
@click.argument("name", required=False, metavar="[RECIPE]")
def recipes(name: str | None) -> None:
    """List the recipes: languages, trained weights and minutes on two cores at scale `small`.

    With RECIPE, list the systems of its paper, the command of each, and every parameter.

    \b
    Example: interlingua recipes fast
    """
    _need_torch()
    from training.listing import recipe_tables, recipes_table
    from training.recipe import find_recipe, recipe_names

    click.echo(recipe_tables(find_recipe(name)) if name else recipes_table(recipe_names()))


@click.command("reproduce")
@click.argument("claims", nargs=-1, metavar="[CLAIM]...")
@click.option("--all", "everything", is_flag=True, help="Every claim that is not run, or stale.")
@click.option("--report", "only_report", is_flag=True, help="Make the page of the results anew.")
@_DATA
@click.option(
    "--work",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs/claims"),
    show_default=True,
    help="Runs and figures are kept here; what was broken off goes on.",
)
@click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("docs/reproduction"),
    show_default=True,
    help="One JSON file a claim; the page is written beside this folder.",
)
@click.option("--smoke", is_flag=True, help="Every system at scale `smoke`, on made-up sentences.")
@click.option("--recipe", "names", multiple=True, help="With --smoke: only this one.")
@click.option("--out", type=click.Path(path_type=Path), help="With --smoke: keep the runs here.")
@click.option("--workers", type=click.IntRange(1), help="Trainings at a time. [default: cores]")
def reproduce(
    claims: tuple[str, ...],
    everything: bool,
    only_report: bool,
    data: Path | None,
    work: Path,
    results: Path,
    smoke: bool,
    names: tuple[str, ...],
    out: Path | None,
    workers: int | None,
) -> None:
    """List the papers' claims with their verdicts, or run CLAIM from data to verdict.

    With --smoke, train, export and serve every system of every recipe, and see that the server
    agrees.

    \b
    Example: interlingua reproduce S1 --data ./data
    """
    _need_torch()
    if smoke:
        from training.reproduce import run_smoke

        failed, count = run_smoke(names, out, workers)
        if failed:
            raise click.ClickException(f"{failed} of {count} systems failed.")
        return
    from training.claims.command import list_claims, run_claims, write_report

    if claims or everything:
        trouble = run_claims(claims, data=data, work=work, results=results, workers=workers)
        if trouble:
            raise click.ClickException("; ".join(trouble))
    elif only_report:
        click.echo(str(write_report(results)))
    else:
        click.echo(list_claims(results))


@click.command("evaluate")
@click.option(
    "--model",
    required=True,
    help="Bundle, run, Hugging Face directory with ONNX weights, or the URL of a server.",
)
@click.option(
    "--protocol",
    "protocols",
    multiple=True,
    metavar="NAME",
    help="May be given several times. [default: tatoeba, sts and demo, where there is data]",
)
@_DATA
@click.option("--languages", help="Comma-separated; the model's own by default.")
@click.option(
    "--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Change the protocol."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON in place of a table.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw the figures into this .svg or .png.",
)
@click.option("--record", is_flag=True, help="Write the figures into the bundle's manifest.")
def evaluate(
    model: str,
    protocols: tuple[str, ...],
    data: Path | None,
    languages: str | None,
    assignments: tuple[str, ...],
    as_json: bool,
    plot: Path | None,
    record: bool,
) -> None:
    """Measure a model, in the runtime that serves it.

    \b
    Example: interlingua evaluate --model models/interlingua-fast --protocol demo
    """
    _need_torch()
    import dataclasses

    from training.data.folder import open_folder
    from training.evaluation.figures import figures_table
    from training.evaluation.models import open_model
    from training.evaluation.plots import draw_figures
    from training.evaluation.protocols import make_protocol
    from training.run import record_figures

    if assignments and len(protocols) != 1:
        raise click.UsageError("--set changes one protocol: name it with --protocol NAME.")
    chosen = [*assignments, *([f"languages={languages}"] if languages else [])]

    def folder() -> DataFolder:
        return open_folder(data)

    for name in protocols:
        make_protocol(name, chosen)  # refused before a model is loaded
    opened = open_model(model)
    wanted = languages.split(",") if languages else list(opened.languages)
    names = protocols or _measurable(folder if data else None, wanted)
    figures = [
        figure for name in names for figure in make_protocol(name, chosen).measure(opened, folder)
    ]
    if record:
        command = _evaluate_command(opened.name, names, chosen)
        record_figures(Path(model), figures, command=command)
    if plot is not None:
        draw_figures(figures, plot)
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(figure) for figure in figures], indent=2))
    else:
        click.echo(figures_table(figures))


@click.command("curve")
@click.argument("run", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("picture", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--stage", default=None, help="Of the recipe. [default: its last]")
def curve(run: Path, picture: Path, stage: str | None) -> None:
    """Draw the learning curve of RUN into PICTURE (.svg or .png).

    \b
    Example: interlingua curve runs/fast-small curve.svg
    """
    _need_torch()
    from training.curves import draw_curve
    from training.run import reopen_run

    draw_curve(run / (stage or reopen_run(run).recipe.stages[-1].name), picture)
    click.echo(str(picture))


def _measurable(
    folder: Callable[[], DataFolder] | None, languages: Sequence[str]
) -> tuple[str, ...]:
    """Return the protocols that there is data for in any of `languages`."""
    from service.shipped import DEMO_CORPUS

    found = []
    if folder is not None:
        opened = folder()
        patterns = {"tatoeba": ("tatoeba", "{}-en.tsv*"), "sts": ("stsb", "{}.dev.tsv*")}
        for protocol, (name, pattern) in patterns.items():
            if any(opened.evaluation_files(name, pattern.format(code)) for code in languages):
                found.append(protocol)
    if DEMO_CORPUS.exists():
        found.append("demo")
    return tuple(found)


def _evaluate_command(name: str, protocols: Sequence[str], assignments: Sequence[str] = ()) -> str:
    options = " ".join(
        [
            *(f"--protocol {protocol}" for protocol in protocols),
            *(f"--set {shlex.quote(assignment)}" for assignment in assignments),
        ]
    )
    data = " --data DATA" if set(protocols) - {"demo"} else ""
    return f"interlingua evaluate --model {shlex.quote(name)} {options}{data}"


commands: tuple[click.Command, ...] = (
    train,
    export_command,
    recipes,
    evaluate,
    curve,
    reproduce,
)
"""What the main command mounts."""
