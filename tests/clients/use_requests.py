"""requests, and the bodies that Open WebUI sends with it."""

from __future__ import annotations

import sys

import requests
from plain import FAST, TEXTS, assert_same, vectors

url = sys.argv[1]
expected = vectors(url, TEXTS)

answer = requests.post(
    f"{url}/v1/embeddings",
    json={"input": list(TEXTS), "model": FAST, "prefix": "", "input_type": "query", "task": "x"},
    headers={
        "Authorization": "Bearer none",
        "X-OpenWebUI-User-Name": "Ada",
        "X-OpenWebUI-User-Role": "user",
    },
    timeout=60,
)
answer.raise_for_status()
assert_same([row["embedding"] for row in answer.json()["data"]], expected)

without_v1 = requests.post(f"{url}/embeddings", json={"input": TEXTS[0], "model": "m"}, timeout=60)
assert_same(without_v1.json()["data"][0]["embedding"], expected[0])
