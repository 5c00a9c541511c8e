"""The official openai package against a server whose queue is full: 429, wait, and try again."""

from __future__ import annotations

import itertools
import sys
import threading
import time

import openai
from plain import MINILM, answered, assert_same, post, vectors

url = sys.argv[1]
TEXT = "The tram stops in front of the library."

impatient = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
client = openai.OpenAI(base_url=f"{url}/v1", api_key="none")  # as it comes: two retries
asked = itertools.count()
expected = vectors(url, [TEXT], model=MINILM)[0]


def fill_the_queue(texts: int) -> threading.Thread:
    """Ask in a thread for the vectors of `texts` texts that were never asked for before."""
    first = next(asked) * 10_000
    inputs = [f"{TEXT} {number}" for number in range(first, first + texts)]
    body: dict[str, object] = {"inputs": inputs, "model": MINILM}
    busy = threading.Thread(target=post, args=(f"{url}/embed", body))
    busy.start()
    return busy


def refused_then_answered(texts: int) -> bool | None:
    """Fill the queue with `texts` and ask for one more.

    Returns whether the client was refused and came through in the end; None where the queue was
    busy for longer than it is patient.
    """
    busy = fill_the_queue(texts)
    time.sleep(0.3)  # until it waits there
    refused = answered(url, 429)
    try:
        found = client.embeddings.create(model=MINILM, input=TEXT)
    except openai.RateLimitError:
        return None
    finally:
        busy.join()
    assert_same(found.data[0].embedding, expected)
    return answered(url, 429) > refused


# How many texts keep the machine busy for the second or two that the client waits, is found out.
texts = 100
for _ in range(8):
    outcome = refused_then_answered(texts)
    if outcome:
        break
    texts = texts * 2 if outcome is False else texts * 2 // 3
else:
    raise AssertionError("it was never refused and answered in the end")

# Without retries the refusal reaches the caller, with the time to wait.
error = None
for _ in range(8):  # the one text may come first, and be what the others are refused for
    busy = fill_the_queue(texts)
    time.sleep(0.1)
    while error is None and busy.is_alive():
        try:
            impatient.embeddings.create(model=MINILM, input=TEXT)
        except openai.RateLimitError as refusal:
            error = refusal
    busy.join()
    if error is not None:
        break
assert error is not None, "it was never refused"
assert int(error.response.headers["retry-after"]) >= 1
assert error.type == "rate_limit_error"
