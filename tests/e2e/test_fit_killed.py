"""A service killed in the middle of a fit comes up with what it had, and nothing half-written."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from service.shipped import shipped_models
from tests.e2e.conftest import start_server

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not shipped_models(), reason="no model is shipped in this checkout"),
]

FLAGS = ("--model", "interlingua-fast", "--no-demo-corpus")  # forty thousand texts are encoded
FEW = [
    {"text": text, "label": label}
    for label, texts in {
        "animals": ("The goat eats grass.", "Two cats sleep.", "Dogs bark at night."),
        "law": ("The judge ruled.", "A court fined him.", "The statute was changed."),
    }.items()
    for text in texts
]
WORDS = ("goat", "cat", "dog", "judge", "court", "statute", "river", "bread", "music", "train")


def _many(count: int) -> bytes:
    chosen = random.Random(0)
    rows = (
        {
            "text": f"{' '.join(chosen.choices(WORDS, k=8))} {number}",
            "label": chosen.choice("abcdef"),
        }
        for number in range(count)
    )
    return "\n".join(json.dumps(row) for row in rows).encode()


def test_kill_in_the_middle_of_a_fit(tmp_path: Path) -> None:
    first = start_server(tmp_path, *FLAGS)
    made = first.client.put("/classifiers/desk", params={"wait": "true"}, json={"examples": FEW})
    assert made.json()["state"] == "succeeded", made.text
    question = {"classifier": "desk", "inputs": "Der Richter hat entschieden.", "top_k": 1}
    before = first.client.post("/classify", json=question).json()
    job = first.client.put(
        "/classifiers/desk", content=_many(40_000), headers={"content-type": "application/x-ndjson"}
    ).json()
    until = time.monotonic() + 60
    while not job["done"] and not job["finished"] and time.monotonic() < until:
        time.sleep(0.02)
        job = first.client.get(f"/jobs/{job['id']}").json()
    assert job["state"] == "running", job
    first.kill()

    second = start_server(tmp_path, *FLAGS)
    assert second.client.get(f"/jobs/{job['id']}").json()["state"] == "interrupted"
    described = second.client.get("/classifiers/desk").json()
    assert (described["version"], described["versions"]) == (1, [1])
    assert second.client.post("/classify", json=question).json() == before
    kept = {path.name for path in (tmp_path / "classifiers" / "desk").iterdir()}
    assert kept == {"current", "v1"}
    assert second.stop() == 0
