"""`interlingua mine`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson

from service.commands.corpora_directory import opened_corpora
from service.commands.progress_line import ProgressLine

if TYPE_CHECKING:  # importing them takes what the extras bring
    from service.search.mining import MinedPair

TEXTS_AT_ONCE = 500


@click.command()
@click.argument("source")
@click.argument("target")
@click.option("--threshold", type=float, help="Least margin; 1.17 if left out.")
@click.option("--source-languages", help="Only these of SOURCE, such as de,fr.")
@click.option("--target-languages", help="Only these of TARGET.")
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Directory of corpora, as of `interlingua serve`. [env: INTERLINGUA_DATA]",
)
def mine(
    source: str,
    target: str,
    threshold: float | None,
    source_languages: str | None,
    target_languages: str | None,
    as_json: bool,
    quiet: bool,
    data: Path | None,
) -> None:
    """Find documents of the corpora SOURCE and TARGET that are translations of each other.

    Prints margin, cosine, both ids and both texts, separated by tabs, the likeliest first. SOURCE
    and TARGET may be one corpus in two languages.

    \b
    Example: interlingua mine demo demo --source-languages de --target-languages ja
    """
    from service.search.mining import DEFAULT_THRESHOLD, Side
    from service.search.mining import mine as mine_pairs
    from service.text.language import languages_of

    with opened_corpora(data) as corpora:
        a = Side(corpora.get(source), languages_of(source_languages))
        b = Side(corpora.get(target), languages_of(target_languages))
        with ProgressLine("documents", quiet=quiet) as line:
            pairs = mine_pairs(
                a,
                b,
                threshold=DEFAULT_THRESHOLD if threshold is None else threshold,
                progress=lambda done, total: line.update(done, done / total if total else None),
            )
            line.finish()  # or the first pair would stand behind it
        for start in range(0, len(pairs), TEXTS_AT_ONCE):
            part = pairs[start : start + TEXTS_AT_ONCE]
            sources = a.corpus.find([pair.source for pair in part])
            targets = b.corpus.find([pair.target for pair in part])
            for pair in part:
                if pair.source in sources and pair.target in targets:  # not deleted meanwhile
                    texts = sources[pair.source].text, targets[pair.target].text
                    click.echo(_line(pair, *texts, as_json=as_json))


def _line(pair: MinedPair, source: str, target: str, *, as_json: bool) -> str:
    if as_json:
        record = {
            "margin": round(pair.margin, 6),
            "score": round(pair.cosine, 6),
            "source": {"id": pair.source, "text": source},
            "target": {"id": pair.target, "text": target},
        }
        return orjson.dumps(record).decode()
    cells = (pair.source, pair.target, source, target)
    # A tab or line break in a text would begin a cell or a row of its own.
    return "\t".join(
        [f"{pair.margin:.4f}", f"{pair.cosine:.4f}", *(" ".join(cell.split()) for cell in cells)]
    )
