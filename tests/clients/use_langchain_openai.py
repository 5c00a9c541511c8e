"""LangChain's OpenAIEmbeddings, which sends tiktoken's ids unless it is told not to."""

from __future__ import annotations

import os
import sys

import openai
from langchain_openai import OpenAIEmbeddings
from plain import FAST, TEXTS, assert_same, error_of, vectors
from pydantic import SecretStr

url = sys.argv[1]
reads_ids = "--reads-ids" in sys.argv
expected = vectors(url, TEXTS[:2])
key = SecretStr("none")

if os.environ.get("TIKTOKEN_CACHE_DIR"):  # where it finds its vocabulary without a network
    default = OpenAIEmbeddings(base_url=f"{url}/v1", api_key=key, model=FAST)
    if reads_ids:
        assert_same(default.embed_documents(list(TEXTS[:2])), expected)
        assert_same(default.embed_query(TEXTS[1]), expected[1])
    else:
        refused = error_of(lambda: default.embed_query(TEXTS[0]), openai.BadRequestError)
        assert "check_embedding_ctx_length=False" in str(refused)

plain = OpenAIEmbeddings(
    base_url=f"{url}/v1", api_key=key, model=FAST, check_embedding_ctx_length=False
)
assert_same(plain.embed_documents(list(TEXTS[:2])), expected)
assert_same(plain.embed_query(TEXTS[1]), expected[1])
