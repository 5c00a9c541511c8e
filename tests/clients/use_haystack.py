"""Haystack: its OpenAI and its Hugging Face embedders, and its ranker."""

from __future__ import annotations

import sys

import numpy as np
from haystack import Document
from haystack.components.embedders import OpenAIDocumentEmbedder, OpenAITextEmbedder
from haystack.utils import Secret
from haystack_integrations.components.embedders.huggingface_api import HuggingFaceAPITextEmbedder
from haystack_integrations.components.rankers.huggingface_api import HuggingFaceTEIRanker
from plain import FAST, MINILM, TEXTS, assert_same, post, vectors

url = sys.argv[1]
texts = list(TEXTS[:2])
key = Secret.from_token("none")

one = OpenAITextEmbedder(api_key=key, api_base_url=f"{url}/v1").run(texts[0])
assert_same(one["embedding"], vectors(url, texts)[0])
assert one["meta"]["usage"]["prompt_tokens"] > 0
assert one["meta"]["model"] == FAST

several = OpenAIDocumentEmbedder(
    api_key=key, api_base_url=f"{url}/v1", model=MINILM, progress_bar=False
)
found = several.run([Document(content=text) for text in texts])["documents"]
assert_same([document.embedding for document in found], vectors(url, texts, model=MINILM))

inference = HuggingFaceAPITextEmbedder(
    api_type="text_embeddings_inference", api_params={"url": url}, token=None
)
# Unlike the others it asks for vectors that are not scaled to length 1.
raw = np.array(post(f"{url}/embed", {"inputs": texts[0], "normalize": False}))[0]
assert_same(inference.run(texts[0])["embedding"], raw)

documents = [Document(content=text) for text in TEXTS[1:]]
ranked = HuggingFaceTEIRanker(url=url, token=None).run(query=TEXTS[0], documents=documents)
expected = vectors(url, list(TEXTS[1:])) @ vectors(url, [TEXTS[0]])[0]
order = np.argsort(-expected).tolist()
assert [document.content for document in ranked["documents"]] == [TEXTS[1 + i] for i in order]
scores = [document.score for document in ranked["documents"]]
np.testing.assert_allclose(np.array(scores, np.float32), expected[order], atol=1e-5)
