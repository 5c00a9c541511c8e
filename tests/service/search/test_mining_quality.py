"""Mining with the shipped model: translations among distractors in the demo corpus."""

from __future__ import annotations

import pytest

from service.demo.loader import read_documents
from service.inference.encoder import Encoder
from service.search.corpora import Corpora, Corpus
from service.search.document import Document
from service.search.mining import Side, mine
from service.shipped import DEMO_CORPUS, shipped_models

# Measured: de 0.97, fr 0.97, ja 0.93.
LEAST_F1 = 0.9


def fill(corpora: Corpora, encoder: Encoder, name: str, documents: list[Document]) -> Corpus:
    space = encoder.manifest.space
    corpus = corpora.create(name, model=encoder.name, space=space, dimension=encoder.dimension)
    corpus.upsert(documents, encoder.encode([document.text for document in documents]))
    return corpus


@pytest.mark.skipif(not DEMO_CORPUS.exists() or not shipped_models(), reason="nothing is shipped")
def test_translations_are_mined_at_the_default_threshold(corpora: Corpora) -> None:
    encoder = Encoder(shipped_models()[0])
    documents = [document for batch in read_documents(DEMO_CORPUS) for document in batch]
    by_language = {
        language: [d for d in documents if d.language == language]
        for language in ("en", "de", "fr", "ja")
    }
    third = len(by_language["en"]) // 3
    english = fill(corpora, encoder, "en", by_language["en"][: 2 * third])
    for language in ("de", "fr", "ja"):
        # The middle third is on both sides.
        other = fill(corpora, encoder, language, by_language[language][third : 3 * third])
        pairs = mine(Side(english), Side(other))
        right = sum(p.source.removesuffix("en") == p.target.removesuffix(language) for p in pairs)
        precision, recall = right / len(pairs), right / third
        f1 = 2 * precision * recall / (precision + recall)
        assert f1 >= LEAST_F1, (language, f1)
