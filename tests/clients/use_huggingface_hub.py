"""huggingface_hub's InferenceClient; it posts to the address itself."""

from __future__ import annotations

import sys

import numpy as np
from huggingface_hub import InferenceClient
from huggingface_hub.errors import HfHubHTTPError
from plain import TEXTS, assert_same, error_of, vectors

url = sys.argv[1]
expected = vectors(url, TEXTS)
client = InferenceClient(url)
assert_same(client.feature_extraction(TEXTS[0]), expected[:1])
assert_same(client.feature_extraction(list(TEXTS)), expected)  # type: ignore[arg-type]
assert_same(
    client.feature_extraction(TEXTS[0], normalize=True, truncate=True, truncation_direction="left"),
    expected[:1],
)
raw = client.feature_extraction(TEXTS[0], normalize=False)
assert abs(float(np.linalg.norm(raw)) - 1) > 1e-3

scores = InferenceClient(f"{url}/similarity").sentence_similarity(
    TEXTS[0], other_sentences=list(TEXTS[1:])
)
np.testing.assert_allclose(scores, expected[1:] @ expected[0], atol=1e-5)

wrong = error_of(
    lambda: client.feature_extraction(TEXTS[0], prompt_name="no-such-prompt"), HfHubHTTPError
)
assert "no prompt of that name" in str(wrong)  # the server's own words reach the caller
