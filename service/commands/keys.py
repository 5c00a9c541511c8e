"""`interlingua keys`: API keys and the lines of a keys file that hold them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import click

from service.durable import sync
from service.errors import InputError, in_field
from service.security.grants import Grant, Scope, new_key, read_line, write_line
from service.wording import plural


@click.group()
def keys() -> None:
    """Make API keys, and keep their digests in place of them."""


@keys.command()
@click.option("--name", default="", help="Who it is for; shown in the log.")
@click.option(
    "--scope", "scopes", multiple=True, type=click.Choice([scope.value for scope in Scope]),
    help="What it is good for; may be given several times. All by default.",
)  # fmt: skip
@click.option(
    "--corpus", "corpora", multiple=True,
    help="A corpus it may touch, or team-* for all that begin so; several times. All by default.",
)  # fmt: skip
@click.option("--rate", type=float, help="Requests a second. Any number by default.")
@click.option(
    "--file", type=click.Path(dir_okay=False, path_type=Path),
    help="Keys file that gets the line; a server that reads it takes the key within a second.",
)  # fmt: skip
def new(
    name: str, scopes: tuple[str, ...], corpora: tuple[str, ...], rate: float | None,
    file: Path | None,
) -> None:  # fmt: skip
    """Print a new key, once: only its digest is kept.

    \b
    Examples:
      interlingua keys new --file keys
      interlingua keys new --name shop --scope search --corpus shop-* --rate 50 --file keys
    """
    there = _read(file) if file is not None and file.exists() else ""
    key = new_key()
    grant = Grant(name, frozenset(map(Scope, scopes or Scope)), corpora or None, rate)
    line = write_line(key, grant)
    click.echo(key)
    if file is None:
        click.echo(f"Put this line into the keys file:\n{line}", err=True)
        return
    _replace(file, there + ("" if there.endswith("\n") or not there else "\n") + line + "\n")
    click.echo(f"Its line is in {file}.", err=True)


@keys.command("hash")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def hash_keys(file: Path) -> None:
    """Write digests in place of the keys that FILE holds in plain; the keys stay valid.

    \b
    Example: interlingua keys hash keys
    """
    lines, hashed = [], 0
    for number, line in enumerate(_read(file).splitlines(), start=1):
        is_key = bool(line.strip()) and not line.lstrip().startswith("#")
        with in_field(f"{file}, line {number}"):
            if is_key and not read_line(line).hashed:
                first, *rest = line.split()
                line = " ".join([f"sha256:{read_line(first).digest.hex()}", *rest])
                hashed += 1
        lines.append(line)
    _replace(file, "\n".join(lines) + "\n")
    click.echo(f"{hashed} {plural(hashed, 'key')} hashed in {file}.", err=True)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file} is no UTF-8: {error.reason}.", remedy="Convert it: iconv -f latin1 -t utf-8."
        ) from None


def _replace(file: Path, text: str) -> None:
    """Write `file` in one step, readable by its owner alone.

    One that is there keeps its owner, who may be the user that the server runs as, and its group
    where it was shut to all others.
    """
    staging = file.with_name(file.name + ".new")
    descriptor = os.open(staging, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        if file.exists():
            _resemble(out.fileno(), file.stat())
        out.write(text)
    sync(staging)  # the key that is shown must not be lost with the power
    staging.replace(file)
    sync(file.parent)


def _resemble(descriptor: int, there: os.stat_result) -> None:
    try:
        os.fchown(descriptor, there.st_uid, there.st_gid)
    except PermissionError:
        return  # nor its mode, which would open the file to a group of ours
    if not there.st_mode & stat.S_IRWXO:
        os.fchmod(descriptor, stat.S_IMODE(there.st_mode))
