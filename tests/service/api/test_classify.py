from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from service.classification.answers import Scored, best_labels
from service.classification.head import Head, read_head
from service.inference.encoder import Encoder
from service.inference.session import Vectors
from tests.service.api.conftest import LABELS
from tests.service.api.running import Running, assert_problem, run_app, tiny_settings

CAT, BREAD = "The cat sleeps on the warm windowsill.", "Fresh bread smells best."


async def test_labels_come_likeliest_first(
    running: Running, tiny_encoder: Encoder, tiny_head: Path
) -> None:
    body = {"classifier": "subjects", "inputs": [CAT, BREAD]}
    rows = (await running.client.post("/classify", json=body)).json()
    assert [row[0]["label"] for row in rows] == ["animals", "food"]
    expected = read_head(tiny_head).predict(tiny_encoder.encode([CAT, BREAD]))
    for row, probabilities in zip(rows, expected, strict=True):
        by_label = dict(zip(LABELS, probabilities.tolist(), strict=True))
        assert {hit["label"]: hit["score"] for hit in row} == pytest.approx(by_label, abs=1e-5)
        assert sum(hit["score"] for hit in row) == pytest.approx(1, abs=1e-5)
        assert row == sorted(row, key=lambda hit: -hit["score"])


async def test_one_text_gives_a_list_of_one_and_top_k_shortens_it(running: Running) -> None:
    rows = (await running.client.post("/classify", json={"inputs": CAT, "top_k": 2})).json()
    assert [len(row) for row in rows] == [2]


async def test_the_metrics_count_the_best_labels(running: Running) -> None:
    await running.client.post("/classify", json={"inputs": [CAT, CAT, BREAD]})
    name = "interlingua_classifications_total"
    assert await running.metric(name, classifier="subjects", label="animals") == 2
    assert await running.metric(name, classifier="subjects", label="food") == 1


async def test_the_metrics_never_show_labels_that_a_request_describes(running: Running) -> None:
    body = {"inputs": [CAT, BREAD], "labels": {"a private label": "cat", "another": "bread"}}
    assert (await running.client.post("/classify", json=body)).status_code == 200
    page = (await running.client.get("/metrics")).text
    assert "interlingua_classifications_total{" not in page
    assert "a private label" not in page


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"inputs": []}, 400, "inputs"),
        ({"classifier": "nope", "inputs": "a"}, 404, None),
        ({"classifier": 3, "inputs": "a"}, 400, "classifier"),
        ({"inputs": "a", "top_k": 0}, 422, "top_k"),
        ({"inputs": [["a", "b"]]}, 422, "inputs"),
        ({"inputs": [["a"]]}, 400, "inputs[0]"),
        ({"inputs": 5}, 400, "inputs"),
        ({"inputs": None}, 400, "inputs"),
        ({"inputs": ["a", ["b", "c"]]}, 400, "inputs[1]"),
        ({"inputs": "a", "labels": ["x"]}, 422, "labels"),
        ({"inputs": "a", "labels": ["x", ""]}, 422, "labels"),
        ({"inputs": "a", "labels": ["x", "y"], "classifier": "subjects"}, 422, "labels"),
        ({"inputs": ["a"] * 17, "explain": True}, 413, "inputs"),
        ({"inputs": "a", "model": "nope"}, 404, "model"),
        ({"inputs": "a", "language": "xx"}, 422, "language"),
    ],
)
async def test_what_cannot_be_used_is_refused(
    running: Running, body: dict[str, object], status: int, field: str | None
) -> None:
    assert_problem(await running.client.post("/classify", json=body), status, field=field)


async def test_predict_has_the_other_shape(running: Running) -> None:
    one = (await running.client.post("/predict", json={"inputs": CAT})).json()
    assert one[0]["label"] == "animals"
    assert len(one) == len(LABELS)
    many = (await running.client.post("/predict", json={"inputs": [[CAT], [BREAD]]})).json()
    assert [row[0]["label"] for row in many] == ["animals", "food"]


@pytest.mark.parametrize("inputs", [[CAT, BREAD], [[CAT, BREAD]], [], [[]], 3, None, [[1]]])
async def test_predict_refuses_pairs_and_says_so(running: Running, inputs: object) -> None:
    problem = assert_problem(
        await running.client.post("/predict", json={"inputs": inputs}), 400, field="inputs"
    )
    assert "/classify" in str(problem["remedy"])


async def test_predict_refuses_raw_scores(running: Running) -> None:
    response = await running.client.post("/predict", json={"inputs": CAT, "raw_scores": True})
    assert_problem(response, 422, field="raw_scores")


@pytest.mark.parametrize(("direction", "label"), [("Right", "animals"), ("Left", "food")])
async def test_predict_cuts_the_end_that_it_is_told(
    running: Running, direction: str, label: str
) -> None:
    long = " ".join([CAT] * 50 + [BREAD] * 50)
    body = {"inputs": long, "truncation_direction": direction}
    best = (await running.client.post("/predict", json=body)).json()[0]
    assert best["label"] == label


async def test_classifiers_are_described(running: Running) -> None:
    (listed,) = (await running.client.get("/classifiers")).json()["classifiers"]
    assert listed["labels"] == list(LABELS)
    assert listed["encoder"]["name"] == "tiny"
    assert (await running.client.get("/classifiers/subjects")).json() == listed
    assert_problem(await running.client.get("/classifiers/nope"), 404)


async def test_without_a_classifier_it_says_how_to_get_one(
    tiny_bundle: Path, tmp_path: Path
) -> None:
    async with run_app(tiny_settings(tiny_bundle, tmp_path)) as running:
        problem = assert_problem(await running.client.post("/classify", json={"inputs": "a"}), 404)
        assert "--head" in str(problem["remedy"])


def test_the_scores_are_finite(tiny_head: Path, tiny_encoder: Encoder) -> None:
    assert np.isfinite(read_head(tiny_head).predict(tiny_encoder.encode([""]))).all()


async def test_many_scores_are_made_in_parts_and_off_the_event_loop(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"inputs": [f"{word} {n}" for n in range(5) for word in (CAT, BREAD)]}
    at_once = (await running.client.post("/classify", json=body)).json()
    predicted = {"inputs": [[text] for text in body["inputs"]]}
    predicted_at_once = (await running.client.post("/predict", json=predicted)).json()
    counted = await running.metric(
        "interlingua_classifications_total", classifier="subjects", label="animals"
    )
    made: list[tuple[threading.Thread, int]] = []

    def noting(head: Head, probabilities: Vectors, top_k: int | None) -> list[Scored]:
        made.append((threading.current_thread(), len(probabilities)))
        return best_labels(head, probabilities, top_k)

    monkeypatch.setattr("service.api.classify.FEW_SCORES", 2 * len(LABELS))
    monkeypatch.setattr("service.api.classify.best_labels", noting)
    assert (await running.client.post("/classify", json=body)).json() == at_once
    assert (await running.client.post("/predict", json=predicted)).json() == predicted_at_once
    again = await running.metric(
        "interlingua_classifications_total", classifier="subjects", label="animals"
    )
    assert again == 2 * counted > 0
    assert [rows for _, rows in made] == [2] * 10
    assert threading.main_thread() not in {thread for thread, _ in made}
