"""`interlingua bench`."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click
import orjson

from service.commands.model_choice import chosen_model, model_option
from service.hardware import available_cores
from service.inference.wishes import PrecisionWish, RuntimeWish
from service.wording import plural

if TYPE_CHECKING:
    from service.inference.encoder import Encoder
    from service.inference.measuring import Speed


class _Numbers(click.ParamType[tuple[int, ...]]):
    """Comma-separated numbers above 0."""

    name = "numbers"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        parts = str(value).split(",")
        if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
            self.fail(f"{value!r} is no list of numbers above 0, such as 1,2,4.", param, ctx)
        return tuple(map(int, parts))


@click.command()
@model_option
@click.option("--workers", type=_Numbers(), help="Thread counts to try. [default: 1 to all cores]")
@click.option(
    "--batch-tokens",
    type=_Numbers(),
    default="512,4096",
    show_default=True,
    help="Batch sizes to try, in padded tokens.",
)
@click.option(
    "--texts",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Texts to measure with, one a line. [default: the demo corpus]",
)
@click.option(
    "--runtime",
    type=click.Choice(get_args(RuntimeWish)),
    default="auto",
    show_default=True,
    help="What to run a transformer on; auto tries all that are installed.",
)
@click.option(
    "--precision",
    type=click.Choice(get_args(PrecisionWish)),
    default="auto",
    show_default=True,
    help="What to compute in; auto tries all that the processor has.",
)
@click.option("--seconds", type=click.FloatRange(0.05, 3600), default=2.0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object a line.")
def bench(
    model: Path | None,
    workers: tuple[int, ...] | None,
    batch_tokens: tuple[int, ...],
    texts: Path | None,
    runtime: RuntimeWish,
    precision: PrecisionWish,
    seconds: float,
    as_json: bool,
) -> None:
    """Measure which settings suit this machine: texts a second, and what one text waits.

    Every combination runs for three times --seconds: bulk requests alone, one-text requests
    beside them, one-text requests alone. Nothing else should run meanwhile. How near the vectors
    are to those in full precision is the least cosine of some of the texts.

    \b
    Examples:
      interlingua bench
      interlingua bench --model ./my-bundle --workers 1,2,4 --batch-tokens 256,1024,4096
    """
    from service.huggingface.bundle import read_model
    from service.inference.choosing import Wishes, ways
    from service.inference.encoder import Encoder
    from service.inference.measuring import measure
    from service.inference.providers import best_providers

    if math.isnan(seconds):  # which no bound refuses
        raise click.BadParameter("nan is no number of seconds.", param_hint="--seconds")
    bundle = read_model(chosen_model(model))
    sample = _texts(texts)
    exact = Encoder(bundle).encode(sample[:_COMPARED])
    if not as_json:
        click.echo(f"{bundle.manifest.name}, {len(sample):,} {plural(len(sample), 'text')}\n")
        click.echo(_HEADER)
    speeds: list[Speed] = []
    for count in workers or tuple(sorted({1, available_cores()})):
        for way in ways(bundle, Wishes(runtime, precision, count, best_providers())):
            encoder = Encoder(bundle, execution=way)
            cosine = float((encoder.encode(sample[:_COMPARED]) * exact).sum(axis=1).min())
            for tokens in _different_sizes(encoder, batch_tokens):
                if sys.stderr.isatty():
                    doing = f"{way.name}, {count} {plural(count, 'worker')}, {tokens} tokens …"
                    click.echo(f"\r{doing}\x1b[K\r", nl=False, err=True)
                speed = measure(
                    encoder, sample, workers=count, batch_tokens=tokens, seconds=seconds
                )
                speeds.append(speed)
                shown = asdict(speed) | {"least_cosine": cosine}
                click.echo(orjson.dumps(shown) if as_json else _row(speed, cosine))
    if not as_json:
        best = max(speeds, key=lambda speed: speed.texts_per_second)
        click.echo(f"\nMost texts a second: {_flags(best)}")


_COMPARED = 64
"""Texts whose vectors are compared with those in full precision."""

_HEADER = (
    "runs on           least cosine  workers  batch-tokens  texts/s   "
    "one text beside bulk (p50, p95)  one text alone"
)


def _row(speed: Speed, cosine: float) -> str:
    median, high = speed.single_ms
    return (
        f"{speed.runs_on:<16}  {cosine:>12.5f}  {speed.workers:>7}  {speed.batch_tokens:>12}  "
        f"{speed.texts_per_second:>7,.0f}  {median:>17.2f} ms, {high:>6.2f} ms  "
        f"{speed.alone_ms:>11.2f} ms"
    )


def _flags(speed: Speed) -> str:
    runtime, _, precision = speed.runs_on.partition("-")
    return (
        f"--runtime {runtime} --precision {precision} "
        f"--workers {speed.workers} --batch-tokens {speed.batch_tokens}"
    )


def _different_sizes(encoder: Encoder, batch_tokens: Sequence[int]) -> list[int]:
    """Return the batch sizes to try, once each: some sessions take no more than they gain from."""
    own = [tower.session.batch_tokens for tower in encoder.towers.values()]
    most = max((tokens for tokens in own if tokens is not None), default=max(batch_tokens))
    return list(dict.fromkeys(min(tokens, most) for tokens in batch_tokens))


def _texts(path: Path | None) -> list[str]:
    from service.bulk.sources import reading
    from service.demo.loader import read_documents
    from service.shipped import DEMO_CORPUS

    if path is not None:
        with reading(str(path)), path.open(encoding="utf-8-sig") as stream:
            found = [line.rstrip("\n") for line in stream if line.strip()]
        if not found:
            raise click.UsageError(f"{path} holds no text.")
        return found
    return [document.text for batch in read_documents(DEMO_CORPUS) for document in batch]
