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
    assert 0.99 < cosines.min() < 0.9999999


def test_it_comes_nearer(run: Run, bundle: Bundle) -> None:
    del bundle
    rows = read_metrics(run.work.stage("train") / "metrics.jsonl", "train")
    assert rows[-1]["distillation"] < rows[0]["distillation"]
    assert rows[-1]["ranking"] < 0.7 * rows[0]["ranking"]
    assert all("scores" in row for row in rows)


def test_a_part_of_the_start_is_kept(run: Run, bundle: Bundle, tmp_path: Path) -> None:
    texts = ["The doctor buys the house.", "A teacher reads the letter."]
    kept = write(change_export(run, ["kept=0.5"]), tmp_path / "kept")
    cosines = (Encoder(kept).encode(texts) * Encoder(bundle).encode(texts)).sum(axis=1)
    assert 0.5 < cosines.min() < 0.9999


def test_whitening_follows_the_map(run: Run, bundle: Bundle, tmp_path: Path) -> None:
    texts = ["The doctor buys the house.", "A teacher reads the letter."]
    whitened = write(change_export(run, ["whitening=0.2"]), tmp_path / "whitened")
    cosines = (Encoder(whitened).encode(texts) * Encoder(bundle).encode(texts)).sum(axis=1)
    assert 0.9 < cosines.min() < 0.9999


def test_a_bundle_is_trained_on(bundle: Bundle, tmp_path: Path) -> None:
    changes = [f"start={bundle.directory}", "steps=8"]
    further = open_run("mini", "smoke", tmp_path / "run", assignments=changes)
    found = train(further)
    assert found is not None
    assert found.manifest.files["tokenizer.model"] == bundle.manifest.files["tokenizer.model"]
    texts = ["The doctor buys the house.", "A teacher reads the letter."]
    cosines = (Encoder(found).encode(texts) * Encoder(bundle).encode(texts)).sum(axis=1)
    assert 0.8 < cosines.min() < 0.99999


def test_a_bundle_whose_layers_stay_is_the_same_again(bundle: Bundle, tmp_path: Path) -> None:
    changes = [f"start={bundle.directory}", "steps=0", "whitening=0", "scored_steps=0"]
    run = open_run("mini", "smoke", tmp_path / "run", assignments=changes)
    found = train(run)
    assert found is not None
    assert not list(run.work.directory.glob("*/metrics.jsonl"))
    texts = ["The doctor buys the house.", "A teacher reads the letter."]
    cosines = (Encoder(found).encode(texts) * Encoder(bundle).encode(texts)).sum(axis=1)
    assert cosines.min() > 0.99999


def test_no_more_tokens_than_the_bundle_has_places_for(bundle: Bundle, tmp_path: Path) -> None:
    changes = [f"start={bundle.directory}", "steps=0", "max_tokens=65"]
    with pytest.raises(InputError, match="places for 64 tokens"):
        train(open_run("mini", "smoke", tmp_path / "run", assignments=changes))


@pytest.mark.parametrize("given", ["interlingua-fast", "nowhere"])
def test_only_a_bundle_of_its_kind_is_gone_on_with(given: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no bundle of the recipe mini") as raised:
        train(open_run("mini", "smoke", tmp_path / "run", assignments=[f"start={given}"]))
    assert given in str(raised.value)
    assert not (tmp_path / "run" / "train").exists()


@pytest.mark.parametrize(
    ("assignment", "said"),
    [
        ("distillation=0", "above 0"),
        ("decay=0", "above 0"),
        ("decay=0.99", "at most what"),
        ("max_tokens=511", "at most 510"),
        ("read_parts=100", "divides the dimension"),
        ("cuts=384", "between 0 and the dimension"),
        ("kept=1", "below 1"),
        ("steps=0", "taken from a bundle"),
        ("steps=-1", "0 or more"),
        ("whitening=2", "between 0 and 1"),
    ],
)
def test_what_cannot_be_is_refused(assignment: str, said: str, tmp_path: Path) -> None:
    del tmp_path
    with pytest.raises(InputError, match=said):
        change(mini.SCALES["smoke"], [assignment])
