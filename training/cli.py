"""The training half of the `interlingua` command; `service.cli` finds it as an entry point."""

from __future__ import annotations

import click

from training.commands.curve import curve
from training.commands.evaluate import evaluate
from training.commands.export import export_command
from training.commands.recipes import recipes
from training.commands.reproduce import reproduce
from training.commands.train import train

commands: tuple[click.Command, ...] = (
    train,
    export_command,
    recipes,
    evaluate,
    curve,
    reproduce,
)
"""What the main command mounts."""
