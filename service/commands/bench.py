"""`interlingua bench`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click
import orjson

from service.commands.model_choice import chosen_model, model_option
from service.hardware import available_cores


class _Numbers(click.ParamType[tuple[int, ...]]):
    """Comma-separated numbers above 0."""

    name = "numbers"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        parts = str(value).split(",")
        if not all(part.strip().isdigit() and int(part) > 0 for part in parts):
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
@click.option("--seconds", type=click.FloatRange(0.05), default=2.0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object a line.")
def bench(
    model: Path | None,
    workers: tuple[int, ...] | None,
    batch_tokens: tuple[int, ...],
    texts: Path | None,
    seconds: float,
    as_json: bool,
) -> None:
    """Measure which settings suit this machine: texts a second, and what one text waits.

    Every combination runs for three times --seconds: bulk requests alone, one-text requests
    beside them, one-text requests alone. Nothing else should run meanwhile.

    \b
    Examples:
      interlingua bench
      interlingua bench --model ./my-bundle --workers 1,2,4 --batch-tokens 256,1024,4096
    """
    from service.inference.encoder import Encoder
    from service.inference.measuring import measure

    encoder = Encoder(chosen_model(model))
    sample = _texts(texts)
    tried = workers or tuple(sorted({1, available_cores()}))
    if not as_json:
        click.echo(f"{encoder.name}, {len(sample):,} texts\n")
        click.echo(
            "workers  batch-tokens  texts/s   one text beside bulk (p50, p95)  one text alone"
        )
    speeds = []
    for count in tried:
        for tokens in batch_tokens:
            if sys.stderr.isatty():
                click.echo(f"\r{count} workers, {tokens} tokens …\x1b[K\r", nl=False, err=True)
            speed = measure(encoder, sample, workers=count, batch_tokens=tokens, seconds=seconds)
            speeds.append(speed)
            median, high = speed.single_ms
            click.echo(
                orjson.dumps(asdict(speed))
                if as_json
                else f"{count:>7}  {tokens:>12}  {speed.texts_per_second:>7,.0f}  "
                f"{median:>17.2f} ms, {high:>6.2f} ms  {speed.alone_ms:>11.2f} ms"
            )
    if not as_json:
        best = max(speeds, key=lambda speed: speed.texts_per_second)
        click.echo(
            f"\nMost texts a second: --workers {best.workers} --batch-tokens {best.batch_tokens}"
        )


def _texts(path: Path | None) -> list[str]:
    from service.demo.loader import read_documents
    from service.shipped import DEMO_CORPUS

    if path is not None:
        found = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        if not found:
            raise click.UsageError(f"{path} holds no text.")
        return found
    return [document.text for batch in read_documents(DEMO_CORPUS) for document in batch]
