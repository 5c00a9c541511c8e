from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.search.corpora import Corpora, Corpus
from tests.service.search.samples import make_corpus


@pytest.fixture
def corpora(tmp_path: Path) -> Iterator[Corpora]:
    opened = Corpora(tmp_path / "corpora")
    yield opened
    opened.close()


@pytest.fixture
def corpus(corpora: Corpora) -> Corpus:
    """The first 60 sample documents, under the name demo."""
    return make_corpus(corpora, documents=60)
