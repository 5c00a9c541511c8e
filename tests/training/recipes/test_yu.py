"""Yu, Li & Oguz from templates to vectors."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from service.bundle.reader import Bundle
from service.errors import InputError
from service.inference.encoder import Encoder
from tests.training.recipes.batches import assert_the_same_alone
from training.encoders.recurrent import RecurrentEncoder
from training.export import PARITY, check_parity
from training.metrics import read_metrics
from training.recipe import change
from training.recipes import yu
from training.run import Run, open_run, train
from training.translation import SHARED, TranslationSystem


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return open_run("yu", "smoke", tmp_path_factory.mktemp("yu"))


def test_one_encoder_serves_all_languages(bundle: Bundle) -> None:
    encoder = Encoder(bundle)
    assert not encoder.needs_language
    assert_the_same_alone(encoder, 64)


def test_it_learns_both_terms(run: Run, bundle: Bundle) -> None:
    del bundle
    rows = read_metrics(run.work.stage("train") / "metrics.jsonl")
    losses = [row["translation"] for row in rows if "translation" in row]
    assert losses[-1] < 0.8 * losses[0]
    assert all(row["similarity"] > 0 for row in rows if "similarity" in row)


@pytest.mark.usefixtures("bundle")
def test_torch_and_onnx_agree(run: Run) -> None:
    model = yu.model(run.parameters, run.work)
    assert check_parity(model.towers[SHARED], model.dimension) < PARITY


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        ["pooling=max", "similarity=0", "weight_norm=0.001"],
        ["pooling=self-attention", "unit=pieces", "vocabulary=150"],
    ],
)
def test_other_systems_of_the_paper(tmp_path: Path, changes: list[str]) -> None:
    assignments = [*changes, "steps=4", "develop_every=2", "log_every=2"]
    run = open_run("yu", "smoke", tmp_path / "run", assignments=assignments)
    bundle = train(run)
    assert bundle is not None
    assert Encoder(bundle).encode("A child sees the river.").shape == (64,)
    rows = read_metrics(run.work.stage("train") / "metrics.jsonl")
    row = next(row for row in rows if "translation" in row)
    assert ("weight_norm" in row) == ("similarity=0" in changes)
    assert ("similarity" in row) != ("similarity=0" in changes)


@pytest.mark.slow
def test_the_similarity_loss_brings_translations_together(tmp_path: Path) -> None:
    """Table 2 in miniature: retrieval is better with the loss than without."""
    errors = []
    for weight in (0, 3):
        assignments = [f"similarity={weight}", "log_every=100"]
        run = open_run("yu", "smoke", tmp_path / str(weight), assignments=assignments)
        train(run)
        rows = read_metrics(run.work.stage("train") / "metrics.jsonl")
        errors.append(min(row["search_error"] for row in rows if "search_error" in row))
    assert errors[1] < errors[0] - 5


def test_word_vectors_are_where_training_begins(tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    numbers = " ".join(["0.25"] * 32)
    vectors.write_text(f"2 32\nen:doctor {numbers}\nru:дом {numbers}\n", encoding="utf-8")
    run = open_run(
        "yu", "smoke", tmp_path / "run", assignments=[f"word_vectors={vectors}", "steps=1"]
    )
    phase = yu.build(run.parameters, run.work)
    assert isinstance(phase.system, TranslationSystem)
    tokens = phase.system.encoder(SHARED).tokens
    assert isinstance(tokens, RecurrentEncoder)
    table = tokens.embedding.weight.detach()
    assert int((table == 0.25).all(1).sum()) == 1
    before = table.clone()
    train(run)
    after = run.work.trained("train")["encoders.parts.*.tokens.embedding.weight"]
    row = int((before == 0.25).all(1).nonzero()[0, 0])
    assert not torch.equal(after[row], before[row])  # trained on


def test_the_papers_numbers() -> None:
    paper = yu.SCALES["paper"]
    assert (paper.vocabulary, paper.unit, paper.width, paper.dimension) == (
        85_000,
        "words",
        512,
        1024,
    )
    assert (paper.decoder_width, paper.clip, paper.pivots) == (1024, 5.0, ("en", "es"))
    assert paper.languages == ("en", "de", "fr", "es", "it", "pt")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        (["pivots=xx"], "pivots"),
        (["pivots="], "pivots"),
        (["languages=en", "pivots=en"], "languages"),
        (["similarity=-1"], "similarity"),
        (["pooling=sum"], "pooling"),
    ],
)
def test_impossible_combinations_are_refused(changes: list[str], field: str) -> None:
    with pytest.raises(InputError) as caught:
        change(yu.SCALES["small"], changes)
    assert caught.value.field == field
