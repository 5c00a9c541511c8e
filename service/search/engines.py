"""Which engine holds the corpora: the built-in one, or another that a setting names."""

from __future__ import annotations

from service.search.backend import CorporaBackend
from service.search.corpora import Corpora
from service.search.gpu import gpu_wanted
from service.settings import Settings


def open_corpora(settings: Settings) -> CorporaBackend:
    """Open the corpora of the data directory, or connect to the vector engine of the settings.

    Raises:
        StorageError: They cannot be opened or reached.
        SettingsError: What the engine needs is not installed, or the GPU is not there.
    """
    if not settings.vector_engine:
        return Corpora(settings.data / "corpora", gpu=gpu_wanted(settings.search_device))
    from service.milvus.corpora import MilvusCorpora

    token = settings.vector_engine_token
    return MilvusCorpora(
        settings.vector_engine, token=None if token is None else token.get_secret_value()
    )
