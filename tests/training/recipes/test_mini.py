"""`interlingua-mini` from templates to vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from service.bundle.reader import Bundle
from service.errors import InputError
from service.inference.encoder import Encoder
from training.metrics import read_metrics
from training.recipe import change
from training.recipes import mini
from training.run import Run, change_export, open_run, train, write
from training.teacher import SPACE, Teacher

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return open_run("mini", "smoke", tmp_path_factory.mktemp("mini"))


def test_a_vector_does_not_depend_on_its_batch(bundle: Bundle) -> None:
    encoder = Encoder(bundle)
    texts = ["The doctor buys the house.", "Der Arzt kauft das Haus.", "house", ""]
    together = encoder.encode(texts)
    assert together.shape == (4, 384)
    for text, vector in zip(texts[:3], together, strict=False):
        assert float(encoder.encode(text) @ vector) > 0.99999
    assert abs(float(encoder.encode("dog bites man") @ encoder.encode("man bites dog"))) < 0.9999


def test_it_lies_in_the_space_of_its_teacher(bundle: Bundle) -> None:
    assert bundle.manifest.space == SPACE
    texts = ["The doctor buys the house.", "A teacher reads the letter."]
    found = Encoder(bundle).encode(texts) @ Teacher().encode(texts).astype(np.float32).T
    assert found.argmax(axis=1).tolist() == [0, 1]
    assert found.diagonal().min() > 0.1


def test_what_rounding_the_weights_costs_can_be_told(
    run: Run, bundle: Bundle, tmp_path: Path
) -> None:
    full = write(change_export(run, ["precision=fp32"]), tmp_path / "full")
    assert full.manifest.precision == "fp32"
    texts = ["The doctor buys the house.", "A teacher reads the letter."]
    cosines = (Encoder(full).encode(texts) * Encoder(bundle).encode(texts)).sum(axis=1)
    assert 0.95 < cosines.min() < 0.9999


def test_each_stage_comes_nearer(run: Run, bundle: Bundle) -> None:
    del bundle
    for stage in ("static", "layers", "beside"):
        rows = read_metrics(run.work.stage(stage) / "metrics.jsonl")
        losses = [row["distillation"] for row in rows if "distillation" in row]
        assert losses[-1] < losses[0]


def test_layers_of_a_bundle_are_settled_further(bundle: Bundle, tmp_path: Path) -> None:
    start = f"start={bundle.directory}"
    further = open_run("mini", "smoke", tmp_path / "run", assignments=[start])
    found = train(further)
    assert found is not None
    assert [path.parent.name for path in further.work.directory.glob("*/metrics.jsonl")] == [
        "settled"
    ]
    assert found.manifest.files.keys() == bundle.manifest.files.keys()
    for name in ("tokenizer.model", "tokenizer-beside.model"):
        assert found.manifest.files[name] == bundle.manifest.files[name]
    texts = ["The doctor buys the house.", "A teacher reads the letter."]
    cosines = (Encoder(found).encode(texts) * Encoder(bundle).encode(texts)).sum(axis=1)
    assert 0.8 < cosines.min() < 0.99999
    rows = read_metrics(further.work.stage("settled") / "metrics.jsonl", "train")
    assert all("scores" in row for row in rows)


def test_of_a_bundle_the_last_map_alone_is_fitted_anew(bundle: Bundle, tmp_path: Path) -> None:
    changes = [f"start={bundle.directory}", "settled_steps=0", "scored_kept=1000"]
    run = open_run("mini", "smoke", tmp_path / "run", assignments=changes)
    found = train(run)
    assert found is not None
    assert not list(run.work.directory.glob("*/metrics.jsonl"))
    texts = ["The doctor buys the house.", "A teacher reads the letter."]
    cosines = (Encoder(found).encode(texts) * Encoder(bundle).encode(texts)).sum(axis=1)
    assert 0.99 < cosines.min() < 0.9999999


@pytest.mark.parametrize("given", ["interlingua-fast", "nowhere"])
def test_only_a_bundle_of_its_kind_is_gone_on_with(given: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no bundle of the recipe mini") as raised:
        train(open_run("mini", "smoke", tmp_path / "run", assignments=[f"start={given}"]))
    assert given in str(raised.value)
    assert not (tmp_path / "run" / "settled").exists()


@pytest.mark.parametrize(
    ("assignment", "said"),
    [
        ("distillation=0", "no mini without its teacher"),
        ("layers_decay=0", "above 0"),
        ("settled_decay=0.99", "at most what"),
        ("beside_power=1.5", "between 0 and 1"),
        ("max_tokens=513", "at most 512"),
        ("read_parts=100", "divides the dimension"),
        ("layers_kept=1", "below 1"),
        ("settled_kept=1", "below 1"),
        ("settled_steps=0", "taken from a bundle"),
        ("whitening=2", "between 0 and 1"),
        ("scored_kept=-1", "0 or more"),
    ],
)
def test_what_cannot_be_is_refused(assignment: str, said: str, tmp_path: Path) -> None:
    del tmp_path
    with pytest.raises(InputError, match=said):
        change(mini.SCALES["smoke"], [assignment])
