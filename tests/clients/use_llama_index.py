"""LlamaIndex: its OpenAI, OpenAI-like and text-embeddings-inference embeddings."""

from __future__ import annotations

import sys

from llama_index.embeddings.openai import OpenAIEmbedding
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.embeddings.text_embeddings_inference import TextEmbeddingsInference
from plain import FAST, MINILM, TEXTS, assert_same, vectors

url = sys.argv[1]
texts = list(TEXTS[:2])

default = OpenAIEmbedding(api_base=f"{url}/v1", api_key="none")  # names an OpenAI model
assert_same(default.get_text_embedding_batch(texts), vectors(url, texts))
assert_same(default.get_query_embedding(texts[0]), vectors(url, texts)[0])
assert_same(default.get_text_embedding("One\nline."), vectors(url, ["One line."])[0])

named = OpenAIEmbedding(api_base=f"{url}/v1", api_key="none", model_name=MINILM)
assert_same(named.get_text_embedding_batch(texts), vectors(url, texts, model=MINILM))

like = OpenAILikeEmbedding(api_base=f"{url}/v1", api_key="none", model_name=FAST)
assert_same(like.get_text_embedding_batch(texts), vectors(url, texts))

inference = TextEmbeddingsInference(model_name=FAST, base_url=url)
assert_same(inference.get_text_embedding_batch(texts), vectors(url, texts))
assert_same(inference.get_text_embedding(texts[1]), vectors(url, texts)[1])
