"""Haystack: its OpenAI and its Hugging Face embedders."""

from __future__ import annotations

import sys

import numpy as np
from haystack import Document
from haystack.components.embedders import OpenAIDocumentEmbedder, OpenAITextEmbedder
from haystack.utils import Secret
from haystack_integrations.components.embedders.huggingface_api import HuggingFaceAPITextEmbedder
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
