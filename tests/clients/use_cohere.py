"""Cohere's client, both versions of its reranking."""

from __future__ import annotations

import sys

import cohere
import numpy as np
from cohere.errors import BadRequestError
from plain import FAST, TEXTS, error_of, vectors

url = sys.argv[1]
query, texts = TEXTS[0], list(TEXTS[1:])
expected = vectors(url, texts) @ vectors(url, [query])[0]
order = np.argsort(-expected).tolist()

first = cohere.Client(api_key="none", base_url=url).rerank(
    model=FAST, query=query, documents=texts, return_documents=True
)
second = cohere.ClientV2(api_key="none", base_url=url).rerank(
    model="rerank-v3.5", query=query, documents=texts, top_n=1
)
for answer, places in ((first, order), (second, order[:1])):
    assert [result.index for result in answer.results] == places
    scores = [result.relevance_score for result in answer.results]
    np.testing.assert_allclose(scores, expected[places], atol=1e-5)
assert [result.document.text for result in first.results if result.document] == [
    texts[index] for index in order
]

wrong = error_of(
    lambda: cohere.ClientV2(api_key="none", base_url=url).rerank(
        model=FAST, query=query, documents=[]
    ),
    BadRequestError,
)
assert "documents" in str(wrong)
