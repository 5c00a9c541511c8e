"""The data directory and the encoder of commands that work without a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from service.commands.model_choice import chosen_model, model_option
from service.commands.settings_flags import read_settings

if TYPE_CHECKING:  # importing them takes what the extras bring
    from service.inference.encoder import Encoder
    from service.search.backend import CorporaBackend, CorpusBackend


def data_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give `command` --data and --model."""
    data = click.option(
        "--data",
        type=click.Path(path_type=Path),
        help="Directory of corpora, as of `interlingua serve`. [env: INTERLINGUA_DATA]",
    )
    return data(model_option(command))


@contextmanager
def opened_corpora(data: Path | None) -> Iterator[CorporaBackend]:
    """Open the corpora of the settings, in `data` where it is given; close them in the end.

    A server may work on the same directory meanwhile: each sees what the other commits.
    """
    from service.search.engines import open_corpora

    settings = read_settings(data=None if data is None else str(data))
    with closing(open_corpora(settings)) as corpora:
        yield corpora


def fitting_encoder(corpus: CorpusBackend, model: Path | None, data: Path | None) -> Encoder:
    """Return the encoder for texts to search in `corpus`: in `model`, or what it was made with.

    Where its weights are others than those that encoded the corpus, that is told on stderr.

    Raises:
        ConflictError: It makes vectors of another space.
    """
    from service.inference.encoder import Encoder
    from service.search.weights import other_weights

    encoder = Encoder(chosen_model(model, data, otherwise=corpus.model))
    corpus.require_space(encoder.manifest.space, model=encoder.name)
    if told := other_weights(corpus, encoder.manifest):
        click.echo(told, err=True)
    return encoder
