"""`interlingua completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_VARIABLE = "_INTERLINGUA_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what makes SHELL complete commands, options and values.

    \b
    Examples:
      interlingua completion bash >> ~/.bashrc
      interlingua completion zsh >> ~/.zshrc
      interlingua completion fish > ~/.config/fish/completions/interlingua.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None, "click knows the three shells; this is a bug"
    click.echo(kind(ctx.find_root().command, {}, "interlingua", _VARIABLE).source())
