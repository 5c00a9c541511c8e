"""What the server says to a plain request: the measure of what the packages make of it."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

FAST = "interlingua-fast"
MINILM = "all-minilm-l6-v2"

TEXTS = ("The tram stops in front of the library.", "Die Straßenbahn hält vor der Bibliothek.", "")


def post(url: str, body: dict[str, object]) -> object:
    """Return the JSON answer to a JSON body."""
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def vectors(url: str, texts: Sequence[str], *, model: str = FAST) -> npt.NDArray[np.float32]:
    """Return float32 [texts, dimension], as /embed gives them in JSON."""
    return np.array(post(f"{url}/embed", {"inputs": list(texts), "model": model}), np.float32)


def assert_same(found: object, expected: npt.NDArray[np.float32]) -> None:
    """Check vectors that came through a package."""
    np.testing.assert_allclose(np.asarray(found, dtype=np.float32), expected, atol=1e-6)


def answered(url: str, status: int) -> int:
    """Return how many requests to /v1/embeddings were answered with `status` so far."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=60) as answer:
        page = answer.read().decode()
    counts = re.findall(
        rf'^interlingua_requests_total{{(?=[^}}]*route="/v1/embeddings")'
        rf'(?=[^}}]*status="{status}")[^}}]*}} (\S+)$',
        page,
        re.MULTILINE,
    )
    return int(sum(map(float, counts)))


def error_of(call: Callable[[], object], kind: type[Exception]) -> Exception:
    """Return the error of `kind` that `call` ends with."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__} was raised")
