"""T-MDE and its kin, from templates to vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from service.bundle.reader import Bundle
from service.errors import InputError
from service.inference.encoder import Encoder
from tests.training.recipes.batches import assert_the_same_alone
from training.encoders.states import SentenceEncoder
from training.encoders.transformer import TransformerEncoder
from training.export import PARITY, check_parity
from training.metrics import read_metrics
from training.recipe import change
from training.recipes import li_tmde
from training.run import Run, open_run, train
from training.translation import SHARED

THESIS = {
    "t-mde": ["pyramid=false", "beta=0"],
    "t-mde-f": ["pyramid=false", "beta=0", "sees=states"],
    "t-mde-p": ["beta=0"],
    "ct-mde": ["pyramid=false"],
    "ct-mde-p": [],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """cT-MDE_P."""
    directory = tmp_path_factory.mktemp("tmde")
    return open_run("li-tmde", "smoke", directory, assignments=["steps=40"])


def test_one_encoder_serves_all_languages(bundle: Bundle) -> None:
    encoder = Encoder(bundle)
    assert not encoder.needs_language
    assert encoder.name == "ct-mde-p"
    assert_the_same_alone(encoder, 32, atol=1e-5)


def test_it_learns_to_translate_and_to_find(run: Run, bundle: Bundle) -> None:
    del bundle
    rows = read_metrics(run.work.stage("train") / "metrics.jsonl")
    losses = [row["translation"] for row in rows if "translation" in row]
    assert losses[-1] < 0.8 * losses[0]
    assert all(0 < row["distance"] < 1 for row in rows if "distance" in row)
    (found,) = [row["search_error"] for row in rows if "search_error" in row]
    assert found < 85  # by chance 98: one of 64 is right


@pytest.mark.usefixtures("bundle")
def test_torch_and_onnx_agree(run: Run) -> None:
    model = li_tmde.model(run.parameters, run.work)
    assert check_parity(model.towers[SHARED], model.dimension) < PARITY


@pytest.mark.slow
@pytest.mark.parametrize(("name", "changes"), list(THESIS.items())[:-1])
def test_the_other_systems_of_the_thesis(name: str, changes: list[str], tmp_path: Path) -> None:
    short = [*changes, "steps=2", "develop_every=0"]
    bundle = train(open_run("li-tmde", "smoke", tmp_path / "run", assignments=short))
    assert bundle is not None
    assert bundle.manifest.name == name
    assert np.isfinite(Encoder(bundle).encode(["Ein Satz.", ""])).all()


def parameters_at_paper_scale(changes: list[str]) -> float:
    """Return millions; on the meta device nothing is allocated."""
    p = change(li_tmde.SCALES["paper"], changes)
    with torch.device("meta"):
        return sum(w.numel() for w in li_tmde.build_system(p, p.pieces).parameters()) / 1e6


def test_sizes_are_those_of_table_4_1() -> None:
    assert parameters_at_paper_scale(["pyramid=false"]) == pytest.approx(246, abs=1)
    assert parameters_at_paper_scale([]) == pytest.approx(259, abs=1)


def test_it_has_six_layers_and_the_pyramid_a_seventh() -> None:
    paper = li_tmde.SCALES["paper"]
    assert (paper.layers, paper.width, paper.heads, paper.inner) == (6, 1024, 16, 4096)
    assert (paper.draws, paper.margin, paper.marginal, paper.beta) == (40, 0.5, 1.0, 0.25)
    assert (paper.rate, paper.smoothing, paper.dropout, paper.decay) == (5e-4, 0.1, 0.3, 1e-4)
    small = change(li_tmde.SCALES["smoke"], ["layers=6", "pyramid=false"])
    encoder = li_tmde.build_system(small, 50).encoder("fr")
    assert isinstance(encoder, SentenceEncoder)
    assert isinstance(encoder.tokens, TransformerEncoder)
    assert len(encoder.tokens.layers) == 6


@pytest.mark.parametrize(
    "assignment", ["pivots=ja", "languages=en", "heads=5", "rows=6", "cool_down=81"]
)
def test_impossible_combinations_are_refused(assignment: str) -> None:
    with pytest.raises(InputError):
        change(li_tmde.SCALES["smoke"], [assignment])
