"""cNV, from two translation models to vectors."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from service.bundle.reader import Bundle
from service.errors import InputError
from service.inference.encoder import Encoder
from tests.training.recipes.batches import TEXTS, assert_the_same_alone
from training.export import PARITY, check_parity
from training.metrics import read_metrics
from training.recipe import change
from training.recipes import li_ntdv
from training.run import Run, open_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """cNV_con, shortly trained."""
    short = ["steps=20", "shared_steps=20"]
    return open_run("li-ntdv", "smoke", tmp_path_factory.mktemp("ntdv"), assignments=short)


def test_each_language_has_its_encoder(bundle: Bundle) -> None:
    encoder = Encoder(bundle)
    assert encoder.needs_language
    assert set(encoder.towers) == {"en", "de"}
    assert_the_same_alone(encoder, 4 * 24, language="en")
    english, german = (
        encoder.encode(TEXTS[0], language=name, normalize=False) for name in ("en", "de")
    )
    assert np.abs(german - english).max() > 1e-3


def test_the_language_is_detected_where_it_is_not_named(bundle: Bundle) -> None:
    encoder = Encoder(bundle)
    text = "Meine Schwester vergisst das alte Buch und die Nachbarn."
    np.testing.assert_array_equal(encoder.encode(text), encoder.encode(text, language="de"))


@pytest.mark.usefixtures("bundle")
def test_frozen_weights_are_bit_identical_after_the_shared_stage(run: Run) -> None:
    after = run.work.trained(li_ntdv.SHARED_LAYERS)
    for stage, source, target in (
        (li_ntdv.FORWARD, "en", "de"),
        (li_ntdv.BACKWARD, "de", "en"),
    ):
        before = run.work.trained(stage)
        for mine, its in (
            (f"encoders.parts.{source}.tokens.frozen.", f"encoders.parts.{source}.tokens."),
            (f"decoders.parts.{target}.decoder.", f"decoders.parts.{target}."),
        ):
            names = [name.removeprefix(mine) for name in after if name.startswith(mine)]
            assert len(names) > 4
            for name in names:
                assert torch.equal(after[mine + name], before[its + name]), name


@pytest.mark.usefixtures("bundle")
def test_both_languages_share_the_three_layers(run: Run) -> None:
    system = li_ntdv.build_system(run.parameters, li_ntdv.translators(run.parameters, 30))
    trained = {name for name, p in system.named_parameters() if p.requires_grad}
    assert {name.rsplit(".", 2)[-2] for name in trained} == {
        *("gru", "query", "key", "value", "shared"),
    }
    english, german = (system.encoder(language).tokens for language in ("en", "de"))
    assert english.gru is german.gru
    assert english.heads is german.heads
    assert system.decoders.of("en").shared is system.decoders.of("de").shared


def test_the_shared_stage_has_both_terms_of_eq_3_8(run: Run, bundle: Bundle) -> None:
    del bundle
    rows = read_metrics(run.work.stage(li_ntdv.SHARED_LAYERS) / "metrics.jsonl")
    trained = [row for row in rows if "translation" in row]
    assert all(row["distance"] > 0 for row in trained)
    assert trained[-1]["loss"] < trained[0]["loss"]


@pytest.mark.usefixtures("bundle")
@pytest.mark.parametrize(("vector", "dimension"), [("con", 96), ("sum", 24)])
def test_torch_and_onnx_agree(run: Run, vector: str, dimension: int) -> None:
    model = li_ntdv.model(change(run.parameters, [f"vector={vector}"]), run.work)
    assert (model.name, model.dimension) == (f"cnv-{vector}", dimension)
    for tower in model.towers.values():
        assert check_parity(tower, dimension) < PARITY


def test_the_papers_numbers() -> None:
    paper = li_ntdv.SCALES["paper"]
    assert (paper.pieces, paper.embedding, paper.batch, paper.longest) == (85_000, 500, 80, 50)
    assert (paper.width, paper.heads, paper.draws, paper.beta) == (1024, 4, 20, 0.5)
    assert paper.margin == 64
    assert (paper.dimension, change(paper, ["vector=sum"]).dimension) == (4096, 1024)


def test_nv_has_no_constraint() -> None:
    p = change(li_ntdv.SCALES["smoke"], ["beta=0"])
    system = li_ntdv.build_system(p, li_ntdv.translators(p, 30))
    assert system._terms.closeness["distance"][1] == 0.0
    assert system._terms.translation_weight == 1.0


@pytest.mark.parametrize("assignment", ["languages=en,de,fr", "beta=2"])
def test_impossible_combinations_are_refused(assignment: str) -> None:
    with pytest.raises(InputError):
        change(li_ntdv.SCALES["smoke"], [assignment])
