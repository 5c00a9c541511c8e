"""The official openai package; it asks for base64 where the caller asks for nothing."""

from __future__ import annotations

import asyncio
import sys

import numpy as np
import openai
from plain import FAST, MINILM, TEXTS, answered, assert_same, error_of, vectors

url = sys.argv[1]
client = openai.OpenAI(base_url=f"{url}/v1", api_key="none")

found = client.embeddings.create(model=FAST, input=list(TEXTS))
assert_same([row.embedding for row in found.data], vectors(url, TEXTS))
assert [row.index for row in found.data] == [0, 1, 2]
assert found.model == FAST
assert found.usage.prompt_tokens == found.usage.total_tokens > 10

other = client.embeddings.create(model=MINILM, input=TEXTS[0])  # several models at once
assert other.model == MINILM
assert_same(other.data[0].embedding, vectors(url, TEXTS[:1], model=MINILM)[0])

unknown = client.embeddings.create(model="text-embedding-3-small", input=TEXTS[0])
assert unknown.model == FAST

cut = client.embeddings.create(model=FAST, input=TEXTS[0], dimensions=64).data[0].embedding
assert len(cut) == 64
assert abs(float(np.linalg.norm(cut)) - 1) < 1e-5

floats = client.embeddings.create(model=FAST, input=TEXTS[0], encoding_format="float")
assert_same(floats.data[0].embedding, vectors(url, TEXTS[:1])[0])


async def concurrently() -> None:
    """Send the same from the package's asynchronous half."""
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none") as several:
        calls = [several.embeddings.create(model=FAST, input=TEXTS[0]) for _ in range(8)]
        for answer in await asyncio.gather(*calls):
            assert_same(answer.data[0].embedding, vectors(url, TEXTS[:1])[0])


asyncio.run(concurrently())

assert [model.id for model in client.models.list()] == [FAST, MINILM]
assert client.models.retrieve(MINILM).id == MINILM
error_of(lambda: client.models.retrieve("gpt-4"), openai.NotFoundError)

before = answered(url, 400)
wrong = error_of(
    lambda: client.embeddings.create(model=FAST, input=TEXTS[0], dimensions=100_000),
    openai.BadRequestError,
)
assert isinstance(wrong, openai.BadRequestError)
assert wrong.param == "dimensions"
assert wrong.code == "invalid-input"
assert wrong.type == "invalid_request_error"
assert "384" in wrong.message
error_of(lambda: client.embeddings.create(model=FAST, input=[]), openai.BadRequestError)
error_of(lambda: client.embeddings.create(model=FAST, input=[1, 2]), openai.BadRequestError)
assert answered(url, 400) - before == 3  # each was sent once: a 400 is not retried
