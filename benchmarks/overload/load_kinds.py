"""What is sent: requests as bytes, made beforehand."""

from __future__ import annotations

import json
import random
from urllib.parse import quote

from benchmarks.overload.offered import raw_request
from benchmarks.serving import demo_texts

FLOOD_REQUESTS = 2000
SOAK_DOCUMENTS = 1000


def flood_requests(key: str, *, texts: int) -> list[bytes]:
    """Return requests of `texts` sentences each, all different, drawn the same every time."""
    sentences, chance = demo_texts(), random.Random(0)
    accept = "application/octet-stream"

    def one(request: int) -> bytes:
        inputs = [f"{text} {request}" for text in chance.sample(sentences, texts)]
        body = json.dumps({"inputs": inputs, "dimensions": 32}).encode()
        return raw_request("POST", "/embed", body, key=key, accept=accept)

    return [one(request) for request in range(FLOOD_REQUESTS)]


def trickle_requests(key: str) -> list[bytes]:
    """Return requests of one sentence."""
    bodies = [json.dumps({"inputs": f"Good morning, {n}!"}).encode() for n in range(50)]
    return [raw_request("POST", "/embed", body, key=key) for body in bodies]


def mixed_requests() -> list[bytes]:
    """Return a thousand requests of every common kind, in a random order that is always the same.

    Writes go to the corpus `soak`, which must be there.
    """
    chance = random.Random(0)
    texts = demo_texts()

    def one() -> bytes:
        text, kind = chance.choice(texts), chance.random()
        if kind < 0.55:
            return _post("/embed", {"inputs": text})
        if kind < 0.75:
            return raw_request("GET", f"/similar?corpus=demo&k=3&q={quote(text)}")
        if kind < 0.85:
            return _post("/classify", {"inputs": text})
        if kind < 0.95:
            return _post("/v1/embeddings", {"model": "any", "input": chance.sample(texts, 32),
                                            "encoding_format": "base64"})  # fmt: skip
        documents = [
            {"id": str(chance.randrange(SOAK_DOCUMENTS)), "text": chance.choice(texts)}
            for _ in range(4)
        ]
        return _post("/corpora/soak/documents", {"documents": _unique(documents)})

    return [one() for _ in range(1000)]


def _post(path: str, body: object) -> bytes:
    return raw_request("POST", path, json.dumps(body).encode())


def _unique(documents: list[dict[str, str]]) -> list[dict[str, str]]:
    return list({document["id"]: document for document in documents}.values())
