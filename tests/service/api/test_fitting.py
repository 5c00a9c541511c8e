from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest

from service.classification.examples import MAX_LABELS
from service.settings import Settings
from tests.service.api.running import Running, assert_problem, run_app
from tests.tiny_bundle import make_tiny_bundle

CAT = ["The cat sleeps.", "The warm cat.", "Die Katze schläft.", "Le chat dort."]
BREAD = ["Fresh bread smells best.", "Early bread.", "Frisches Brot duftet.", "Bread, bread."]
EXAMPLES = [{"text": text, "label": "cat"} for text in CAT] + [
    {"text": text, "label": "bread"} for text in BREAD
]
PAIRS = [
    {"text": one, "text_pair": other, "label": label}
    for texts, others, label in ((CAT, CAT, "same"), (CAT, BREAD, "other"), (BREAD, BREAD, "same"))
    for one in texts
    for other in others
]


async def fit(running: Running, name: str, body: object, **options: str) -> httpx.Response:
    return await running.client.put(
        f"/classifiers/{name}", json=body, params={"wait": "true", **options}
    )


async def fitted(running: Running, name: str, body: object) -> dict[str, object]:
    response = await fit(running, name, body)
    assert response.status_code == 200, response.text
    job: dict[str, object] = response.json()
    assert job["state"] == "succeeded", job
    result = job["result"]
    assert isinstance(result, dict)
    return result


async def labels_of(running: Running, name: str, inputs: Sequence[object]) -> list[str]:
    response = await running.client.post("/classify", json={"classifier": name, "inputs": inputs})
    assert response.status_code == 200, response.text
    return [row[0]["label"] for row in response.json()]


async def test_examples_become_a_classifier_with_held_out_figures(running: Running) -> None:
    described = await fitted(running, "things", {"examples": EXAMPLES})
    assert described["labels"] == ["bread", "cat"]
    assert described["examples"] == 8
    assert described["by_label"] == {"bread": 4, "cat": 4}
    assert (described["version"], described["versions"]) == (1, [1])
    report = described["report"]
    assert isinstance(report, dict)
    assert report["examples"] == 8
    assert {"accuracy", "macro_f1", "ece", "by_language", "confusion"} <= set(report)
    assert (await running.client.get("/classifiers/things")).json() == described
    assert await labels_of(running, "things", ["The cat sleeps.", "Bread"]) == ["cat", "bread"]


async def test_without_waiting_there_is_a_job_with_progress(running: Running) -> None:
    response = await running.client.put("/classifiers/things", json={"examples": EXAMPLES})
    assert response.status_code in (200, 202)
    job = (await running.client.get(response.headers["location"], params={"wait": 20})).json()
    assert (job["kind"], job["subject"], job["state"]) == ("fit", "things", "succeeded")
    assert job["done"] == job["total"] == 16


@pytest.mark.parametrize("description", ["Of things.", "2024", "true"])
async def test_lines_are_taken_with_the_options_as_parameters(
    running: Running, description: str
) -> None:
    lines = "\n".join(json.dumps(row) for row in EXAMPLES)
    response = await running.client.put(
        "/classifiers/things",
        content=lines,
        headers={"content-type": "application/x-ndjson"},
        params={"wait": "true", "unknown_threshold": "0.9", "description": description},
    )
    described = response.json()["result"]
    assert described["unknown_threshold"] == 0.9
    assert described["description"] == description


async def test_documents_of_a_corpus_are_examples(running: Running) -> None:
    await running.fill()
    body = {"corpus": {"name": "library", "label_field": "topic"}}
    described = await fitted(running, "topics", body)
    assert described["by_label"] == {"animals": 3, "food": 2}
    assert await labels_of(running, "topics", ["The cat"]) == ["animals"]
    body = {"corpus": {"name": "library", "label_field": "topic", "group_field": "topic"}}
    grouped = (await fitted(running, "grouped", body))["report"]
    assert isinstance(grouped, dict)
    assert grouped["accuracy"] == 0  # each label is one group: held out, it is unknown
    nowhere = await fit(running, "topics", {"corpus": {"name": "library", "label_field": "colour"}})
    assert nowhere.json()["state"] == "failed"
    assert nowhere.json()["error"]["field"] == "corpus.label_field"


async def label_corpus(running: Running, topics: Sequence[object]) -> dict[str, object]:
    """Make a corpus of documents with these topics; return what fits a classifier on it."""
    assert (await running.client.put("/corpora/desk")).status_code == 201
    documents = [
        {"id": f"d{row}", "text": f"text {row}", "metadata": {"topic": topic}}
        for row, topic in enumerate(topics)
    ]
    stored = await running.client.post("/corpora/desk/documents", json={"documents": documents})
    assert stored.status_code == 200, stored.text
    return {"corpus": {"name": "desk", "label_field": "topic"}}


async def test_lists_in_a_corpus_are_labels_of_a_classifier_that_gives_several(
    running: Running,
) -> None:
    topics = [["law", "health"], ["health", None], "law", "law", [None], None, []]
    body = await label_corpus(running, topics)
    described = await fitted(running, "topics", {**body, "multi_label": True})
    assert described["multi_label"] is True
    assert described["by_label"] == {"law": 3, "health": 2}
    refused = (await fit(running, "topics", body)).json()
    assert refused["state"] == "failed"
    assert refused["error"]["field"] == "corpus.label_field"
    assert refused["error"]["given"] == "{'id': 'd0', 'topic': ['law', 'health']}"
    assert "multi_label" in refused["error"]["remedy"]


async def test_a_label_in_a_corpus_that_cannot_be_one_is_named(running: Running) -> None:
    body = await label_corpus(running, ["law", "unknown"])
    error = (await fit(running, "topics", body)).json()["error"]
    assert (error["field"], error["given"]) == (
        "corpus.label_field", "{'id': 'd1', 'topic': 'unknown'}",
    )  # fmt: skip


async def test_a_body_that_is_no_utf8_is_refused(running: Running) -> None:
    response = await running.client.put(
        "/classifiers/things",
        content=b'{"examples": [{"text": "caf\xe9", "label": "x"}]}',
        headers={"content-type": "application/json"},
    )
    problem = assert_problem(response, 400, field="body")
    assert "UTF-8" in str(problem["remedy"])


async def test_a_second_fit_is_a_version_and_versions_switch(running: Running) -> None:
    await fitted(running, "things", {"examples": EXAMPLES})
    swapped = [{**row, "label": "x" + str(row["label"])} for row in EXAMPLES]
    second = await fitted(running, "things", {"examples": swapped})
    assert (second["version"], second["versions"]) == (2, [1, 2])
    assert await labels_of(running, "things", ["The cat sleeps."]) == ["xcat"]
    client = running.client
    assert_problem(await client.delete("/classifiers/things/versions/2"), 409, field="version")
    back = await client.post("/classifiers/things/versions/1/activate")
    assert back.json()["version"] == 1
    assert await labels_of(running, "things", ["The cat sleeps."]) == ["cat"]
    assert (await client.delete("/classifiers/things/versions/2")).status_code == 204
    assert_problem(await client.post("/classifiers/things/versions/2/activate"), 404)
    assert 'classifier="things"' in (await client.get("/metrics")).text
    assert (await client.delete("/classifiers/things")).status_code == 204
    assert_problem(await client.get("/classifiers/things"), 404)
    assert 'classifier="things"' not in (await client.get("/metrics")).text


async def test_classifiers_outlive_the_service(settings: Settings) -> None:
    async with run_app(settings) as running:
        await fitted(running, "things", {"examples": EXAMPLES})
        before = (await running.client.get("/classifiers/things")).json()
    async with run_app(settings) as running:
        assert (await running.client.get("/classifiers/things")).json() == before
        assert await labels_of(running, "things", ["The cat sleeps."]) == ["cat"]


async def test_pairs_have_a_head_of_their_own(running: Running) -> None:
    described = await fitted(running, "same", {"examples": PAIRS})
    assert described["kind"] == "pair"
    inputs = [["The cat sleeps.", "Le chat dort."], ["The cat sleeps.", "Early bread."]]
    assert await labels_of(running, "same", inputs) == ["same", "other"]
    single = await running.client.post("/classify", json={"classifier": "same", "inputs": "one"})
    assert_problem(single, 422, field="inputs")
    pair = {"inputs": ["The cat sleeps.", "Le chat dort."], "classifier": "same"}
    assert (await running.client.post("/predict", json=pair)).json()[0]["label"] == "same"
    explained = {"classifier": "same", "inputs": inputs, "explain": True}
    (one, _) = (await running.client.post("/classify", json=explained)).json()
    assert {part["of_pair"] for part in one["explanation"]["parts"]} == {0, 1}
    assert one["explanation"]["examples"][0]["text_pair"]


async def test_a_text_may_have_several_labels_or_none(running: Running) -> None:
    examples = [
        *({"text": text, "labels": ["cat"]} for text in CAT),
        *({"text": text, "labels": ["bread"]} for text in BREAD),
        *({"text": f"{cat} {bread}", "labels": ["cat", "bread"]}
          for cat, bread in zip(CAT, BREAD, strict=True)),
        *({"text": text, "labels": []} for text in ("Rivers carry sand.", "Stones.", "The sea.")),
    ]  # fmt: skip
    described = await fitted(running, "things", {"examples": examples, "multi_label": True})
    assert described["multi_label"] is True
    request = {"classifier": "things", "inputs": ["The cat sleeps. Fresh bread smells best."]}
    (row,) = (await running.client.post("/classify", json=request)).json()
    assert sum(hit["score"] for hit in row) > 1
    refused = await fit(running, "things", {"examples": examples})
    assert_problem(refused, 422, field="examples[0].labels")


async def test_labels_in_words_need_no_example(running: Running) -> None:
    words = {"cat": "cat, Katze, chat", "bread": "bread, Brot"}
    described = await fitted(running, "things", {"labels": words})
    assert described["report"] is None
    assert described["described"] == ["cat", "bread"]
    assert await labels_of(running, "things", ["The cat sleeps.", "Bread"]) == ["cat", "bread"]
    request = {"labels": words, "inputs": ["The cat sleeps.", "Bread"]}
    rows = (await running.client.post("/classify", json=request)).json()
    assert [row[0]["label"] for row in rows] == ["cat", "bread"]
    assert all(sum(hit["score"] for hit in row) == pytest.approx(1, abs=1e-5) for row in rows)
    both = await fitted(
        running, "things", {"labels": words, "examples": [{"text": "Stones.", "label": "bread"}]}
    )
    assert both["examples"] == 1
    assert await labels_of(running, "things", ["Stones."]) == ["bread"]


async def test_below_the_threshold_the_answer_is_unknown(running: Running) -> None:
    await fitted(running, "things", {"examples": EXAMPLES, "unknown_threshold": 0.99})
    request = {"classifier": "things", "inputs": ["Rivers carry sand and stones."]}
    (row,) = (await running.client.post("/classify", json=request)).json()
    assert row[0]["label"] == "unknown"
    assert row[0]["score"] == pytest.approx(1 - row[1]["score"], abs=1e-5)


async def test_an_answer_is_explained(running: Running) -> None:
    await fitted(running, "things", {"examples": EXAMPLES})
    text = "The cat sleeps. Stones."
    request: dict[str, object] = {"classifier": "things", "inputs": text, "explain": True}
    (one,) = (await running.client.post("/classify", json=request)).json()
    explanation = one["explanation"]
    assert explanation["label"] == one["labels"][0]["label"] == "cat"
    assert explanation["examples"][0]["labels"] == ["cat"]
    assert {part["text"] for part in explanation["parts"]} == {"The", "cat", "sleeps.", "Stones."}
    for part in explanation["parts"]:
        assert text[part["start"] : part["end"]] == part["text"]
    (document,) = (
        await running.client.post("/classify", json={**request, "document": True})
    ).json()
    parts = document["explanation"]["parts"]
    assert {part["text"] for part in parts} == {"The cat sleeps.", "Stones."}
    # Leave-one-out by hand.
    whole = document["labels"][0]["score"]
    rest = {**request, "inputs": "Stones.", "explain": False}
    (row,) = (await running.client.post("/classify", json=rest)).json()
    without = next(hit["score"] for hit in row if hit["label"] == "cat")
    effect = next(part["effect"] for part in parts if part["text"] == "The cat sleeps.")
    assert effect == pytest.approx(whole - without, abs=1e-4)


async def test_effects_in_pairs_of_documents_are_of_documents(running: Running) -> None:
    await fitted(running, "same", {"examples": PAIRS, "document": True, "regularisation": 0.01})
    pair = ["The cat sleeps. Fresh bread smells best of all. Stones.", "Cat. Early bread."]
    request = {"classifier": "same", "inputs": [pair]}
    (one,) = (await running.client.post("/classify", json={**request, "explain": True})).json()
    label, whole = one["labels"][0].values()
    for part in one["explanation"]["parts"]:
        texts = list(pair)
        text = texts[part["of_pair"]]
        texts[part["of_pair"]] = text[: part["start"]] + text[part["end"] :]
        rest = {**request, "inputs": [texts]}
        (row,) = (await running.client.post("/classify", json=rest)).json()
        without = next(hit["score"] for hit in row if hit["label"] == label)
        assert part["effect"] == pytest.approx(whole - without, abs=1e-4)


async def test_documents_are_never_cut(running: Running) -> None:
    await fitted(running, "things", {"examples": EXAMPLES, "document": True})
    long = "The cat sleeps. " * 300
    response = await running.client.post(
        "/classify", json={"classifier": "things", "inputs": [long]}
    )
    assert response.json()[0][0]["label"] == "cat"
    assert "x-truncated" not in response.headers
    embedded = await running.client.post("/embed", json={"inputs": long, "document": True})
    assert "x-truncated" not in embedded.headers
    one = await running.client.post("/embed", json={"inputs": "The cat sleeps."})
    assert embedded.json()[0] == pytest.approx(one.json()[0], abs=1e-5)
    assert "x-truncated" in (await running.client.post("/embed", json={"inputs": long})).headers


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "examples"),
        ({"examples": []}, 422, "examples"),
        ({"examples": [{"text": "a", "label": "x"}] * 2}, 422, "examples"),  # one label
        ({"examples": [*EXAMPLES, {"text": "a", "label": "x"}]}, 422, "examples"),  # one example
        ({"examples": [*EXAMPLES, {"text": CAT[0], "label": "bread"}]}, 422, "examples[8].label"),
        ({"examples": [{"text": "a", "label": " "}]}, 422, "examples[0].label"),
        ({"examples": [{"text": "a", "label": "unknown"}]}, 422, "examples[0].label"),
        ({"examples": [{"text": "a", "label": 3}]}, 400, "examples[0].label"),
        ({"examples": [{"text": "a", "lable": "x"}]}, 400, "examples[0].lable"),
        ({"examples": [{"text": " ", "label": "x"}]}, 422, "examples[0].text"),
        ({"examples": ["a"]}, 400, "examples[0]"),
        ({"examples": [*EXAMPLES, {"text": "a", "text_pair": "b", "label": "cat"}]}, 422,
         "examples[8].text_pair"),
        ({"examples": EXAMPLES, "regularisation": 0}, 422, "regularisation"),
        ({"examples": EXAMPLES, "unknown_threshold": 1.5}, 422, "unknown_threshold"),
        ({"examples": EXAMPLES, "unknown_threshold": 0.5}, 422, "unknown_threshold"),
        ({"labels": {"a": "b", "c": "d"}, "unknown_threshold": 0.4}, 422, "unknown_threshold"),
        ({"examples": EXAMPLES, "model": "nope"}, 404, "model"),
        ({"examples": EXAMPLES, "corpus": {"name": "c", "label_field": "f"}}, 422, "corpus"),
        ({"corpus": {"name": "nope", "label_field": "f"}}, 404, None),
        ({"labels": {"a": "b"}}, 422, "examples"),
        ({"labels": {}}, 400, "examples"),
        ({"labels": {"a": "b", " ": "c"}}, 422, "labels"),
        ({"labels": {"a": "b", "c": "d"}, "examples": PAIRS}, 422, "labels"),
        ({"examples": EXAMPLES, "class_weights": {"dog": 2}}, 422, "class_weights"),
        ({"examples": EXAMPLES, "class_weights": {"cat": 0}}, 422, "class_weights.cat"),
        ({"examples": EXAMPLES, "class_weights": {"cat": True}}, 422, "class_weights.cat"),
        ({"examples": EXAMPLES, "class_weights": "even"}, 422, "class_weights"),
        ({"examples": EXAMPLES, "class_weights": None}, 422, "class_weights"),
        ({"examples": [{**EXAMPLES[0], "group": 3}]}, 400, "examples[0].group"),
        ({"examples": [{**row, "group": "one"} for row in EXAMPLES]}, 422, "group"),
        ({"examples": [PAIRS[0], {**PAIRS[0], "label": "other"}]}, 422, "examples[1].label"),
    ],
)  # fmt: skip
async def test_what_cannot_be_fitted_is_refused_and_nothing_written(
    running: Running, settings: Settings, body: object, status: int, field: str | None
) -> None:
    assert_problem(await fit(running, "things", body), status, field=field)
    assert not list(settings.data.glob("classifiers/*"))


@pytest.mark.parametrize("choice", ["drop", "keep"])
async def test_contradictions_may_be_dropped_or_kept(running: Running, choice: str) -> None:
    examples = [*EXAMPLES, {"text": CAT[0], "label": "bread"}]
    body = {"examples": examples, "contradictions": choice}
    described = await fitted(running, "things", body)
    assert described["examples"] == {"drop": 7, "keep": 9}[choice]


async def test_names_that_cannot_be_are_refused(running: Running) -> None:
    for name, status in (("..%2Fx", 404), ("Upper", 422), ("subjects", 409)):
        response = await running.client.put(f"/classifiers/{name}", json={"examples": EXAMPLES})
        assert_problem(response, status)
    assert_problem(await running.client.delete("/classifiers/subjects"), 409, field="name")


def _lines(count: int) -> Iterator[bytes]:
    for number in range(count):
        yield json.dumps({"text": f"text {number}", "label": f"label {number}"}).encode() + b"\n"


async def stream(running: Running, content: Sequence[bytes]) -> httpx.Response:
    return await running.client.put(
        "/classifiers/things",
        content=b"".join(content),
        headers={"content-type": "application/x-ndjson"},
        params={"wait": "true"},
    )


async def test_too_many_labels_are_refused_at_the_first_beyond(running: Running) -> None:
    problem = assert_problem(
        await stream(running, list(_lines(MAX_LABELS + 50))), 413,
        field=f"line {MAX_LABELS + 1}.label",
    )  # fmt: skip
    assert "1,000" in str(problem["detail"])


@pytest.mark.parametrize(
    ("line", "field"),
    [(b'{"text": "\xff\xfe", "label": "x"}\n', "line 2"), (b"nonsense\n", "line 2")],
)
async def test_lines_that_are_no_utf8_or_json_are_named(
    running: Running, line: bytes, field: str
) -> None:
    good = b'{"text": "a", "label": "x"}\n'
    assert_problem(await stream(running, [good, line, good]), 400, field=field)


async def test_any_encoder_of_the_space_will_do_and_no_other(
    tiny_bundle: Path, tmp_path: Path, settings: Settings
) -> None:
    friend = make_tiny_bundle(tmp_path / "friend", name="friend")
    stranger = make_tiny_bundle(tmp_path / "stranger", name="stranger", space="elsewhere", seed=8)
    changed = settings.model_copy(update={"model": [tiny_bundle, friend, stranger]})
    async with run_app(changed) as running:
        await fitted(running, "things", {"examples": EXAMPLES, "model": "tiny"})
        request = {"classifier": "things", "inputs": "The cat sleeps."}
        for model in (None, "tiny", "friend"):
            asked = await running.client.post("/classify", json={**request, "model": model})
            assert asked.json()[0][0]["label"] == "cat"
        refused = await running.client.post("/classify", json={**request, "model": "stranger"})
        problem = assert_problem(refused, 409, field="model")
        assert "tiny" in str(problem["remedy"])


async def test_several_labels_at_a_time_have_a_threshold_of_any_height(running: Running) -> None:
    body = {"examples": EXAMPLES, "multi_label": True, "unknown_threshold": 0.4}
    body["examples"] = [{"text": row["text"], "labels": [row["label"]]} for row in EXAMPLES]
    assert (await fitted(running, "things", body))["unknown_threshold"] == 0.4


async def test_a_parameter_beside_a_json_body_is_refused(running: Running) -> None:
    path, body = "/classifiers/subjects2", {"examples": EXAMPLES}
    answer = await running.client.put(path, params={"multi_label": "true"}, json=body)
    assert "body" in str(assert_problem(answer, 422, field="multi_label")["remedy"])
    answer = await running.client.put(path, params={"wiat": "true"}, json=body)
    assert "wait" in str(assert_problem(answer, 422, field="wiat")["remedy"])


async def test_a_misspelt_parameter_beside_lines_is_refused(running: Running) -> None:
    answer = await running.client.put(
        "/classifiers/subjects2",
        params={"multilabel": "true"},
        content=b'{"text": "a", "label": "x"}\n',
        headers={"content-type": "application/x-ndjson"},
    )
    problem = assert_problem(answer, 422, field="multilabel")
    assert "multi_label" in str(problem["remedy"])
