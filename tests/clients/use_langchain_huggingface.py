"""LangChain's HuggingFaceEndpointEmbeddings, made for text-embeddings-inference.

Its present release takes the address of a server no more, but a client that has one.
"""

from __future__ import annotations

import sys

from huggingface_hub import InferenceClient
from langchain_huggingface import HuggingFaceEndpointEmbeddings
from plain import TEXTS, assert_same, vectors

url = sys.argv[1]
expected = vectors(url, TEXTS)
embeddings = HuggingFaceEndpointEmbeddings()
embeddings.client = InferenceClient(url)
assert_same(embeddings.embed_documents(list(TEXTS)), expected)
assert_same(embeddings.embed_query(TEXTS[1]), expected[1])
