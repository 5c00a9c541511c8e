"""`interlingua search`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from service.commands.corpora_directory import data_options, fitting_encoder, opened_corpora

if TYPE_CHECKING:  # importing it takes what the extras bring
    from service.search.query import Found


@click.command()
@click.argument("queries", nargs=-1, required=True)
@click.option("--corpus", required=True, help="Where to look.")
@click.option("-k", default=10, show_default=True, help="Hits for each query.")
@click.option("--languages", help="Only documents in these, such as de,fr.")
@click.option("--filter", "filter_text", help='Conditions on metadata: {"topic": "law"}.')
@click.option("--min-score", type=float, help="Least cosine.")
@click.option("--group-score", type=float, help="One hit for documents of this cosine or more.")
@click.option("--margin", is_flag=True, help="Order by margin score instead of cosine.")
@click.option("--json", "as_json", is_flag=True, help="A JSON list a line, as POST /similar.")
@data_options
def search(
    queries: tuple[str, ...],
    corpus: str,
    k: int,
    languages: str | None,
    filter_text: str | None,
    min_score: float | None,
    group_score: float | None,
    margin: bool,
    as_json: bool,
    data: Path | None,
    model: Path | None,
) -> None:
    """Print the documents of a corpus that are nearest to each query, in any language.

    \b
    Example: interlingua search "Warum schwimmt Eis?" --corpus demo -k 3 --languages en,ja
    """
    from service.api.hits import hit_answer
    from service.inference.encoder import QUERY_PROMPTS
    from service.search.grouping import Grouping
    from service.search.query import Query, check_directions, check_texts, find
    from service.text.language import languages_of

    query = Query(
        k=k,
        languages=languages_of(languages),
        filter=_filter(filter_text),
        min_score=min_score,
        grouping=None if group_score is None else Grouping(score=group_score),
        by_margin=margin,
    )
    check_texts(queries, field="QUERY")
    with opened_corpora(data) as corpora:
        opened = corpora.get(corpus)
        encoder = fitting_encoder(opened, model, data)
        vectors = encoder.encode(
            queries,
            dimensions=opened.dimension,
            prefix=encoder.prompt_prefix(encoder.prompt_among(QUERY_PROMPTS)),
        )
        check_directions(vectors, queries, field="QUERY")
        for text, found in zip(queries, find(opened, vectors, query), strict=True):
            if as_json:
                click.echo(orjson.dumps([hit_answer(one) for one in found]))
                continue
            if len(queries) > 1:
                click.echo(f"{text}")
            for one in found:
                click.echo(_line(one))


def _line(found: Found) -> str:
    hit = found.hit
    start, end = hit.passage or (0, len(hit.text))
    score = hit.score if found.margin is None else found.margin
    text = " ".join(hit.text[start:end].split())
    more = f"  (and {len(found.members)} more)" if found.members else ""
    return f"{score:.4f}  {hit.language or '--':<3} {hit.id}  {text}{more}"


def _filter(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise click.BadParameter(f"{error}", param_hint="--filter") from None
    if not isinstance(value, dict):
        raise click.BadParameter('a JSON object is due: {"topic": "law"}', param_hint="--filter")
    return value
