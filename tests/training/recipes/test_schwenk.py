"""Schwenk & Douze from templates to vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from service.bundle.reader import Bundle
from service.errors import InputError
from service.inference.encoder import Encoder
from training.export import PARITY, check_parity
from training.metrics import read_metrics
from training.recipe import SCALES, Scale, change
from training.recipes import schwenk
from training.run import Run, open_run, train


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """BLSTMs with max-pooling, 1:N."""
    return open_run("schwenk", "smoke", tmp_path_factory.mktemp("schwenk"))


def test_each_language_has_its_encoder(bundle: Bundle) -> None:
    encoder = Encoder(bundle)
    assert encoder.needs_language
    assert len({id(tower) for tower in encoder.towers.values()}) == 4
    texts = ["Der Arzt kauft das Haus.", "Meine Schwester liebt den Fluss."]
    german, english = (encoder.encode(texts, language=name) for name in ("de", "en"))
    assert german.shape == (2, 64)
    assert np.abs(german - english).max() > 0.01
    np.testing.assert_allclose(encoder.encode(texts[0], language="de"), german[0], atol=1e-6)


def test_it_learns_to_translate(run: Run, bundle: Bundle) -> None:
    del bundle
    rows = read_metrics(run.work.stage("train") / "metrics.jsonl")
    losses = [row["translation"] for row in rows if "translation" in row]
    assert losses[-1] < 0.7 * losses[0]
    perplexities = [row["perplexity"] for row in rows if "perplexity" in row]
    assert perplexities[-1] < perplexities[0] < 120
    assert all(0 <= row["search_error"] <= 100 for row in rows if "search_error" in row)


@pytest.mark.usefixtures("bundle")
def test_torch_and_onnx_agree_for_every_language(run: Run) -> None:
    model = schwenk.model(run.parameters, run.work)
    assert set(model.towers) == {"en", "de", "fr", "ja"}
    for tower in model.towers.values():
        assert check_parity(tower, model.dimension) < PARITY


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "encoders"),
    [
        (["strategy=1:1", "targets=en", "encoder=lstm", "layers=3"], {"de", "fr", "ja"}),
        (["strategy=M:1", "targets=en", "mixture=123a"], {"de", "fr", "ja"}),
        (["strategy=M:N", "together=2", "every_step=false"], {"en", "de", "fr", "ja"}),
    ],
)
def test_other_systems_of_the_paper(tmp_path: Path, changes: list[str], encoders: set[str]) -> None:
    assignments = [*changes, "steps=4", "develop_every=2", "log_every=2"]
    bundle = train(open_run("schwenk", "smoke", tmp_path / "run", assignments=assignments))
    assert bundle is not None
    assert set(Encoder(bundle).towers) == encoders


def test_the_papers_numbers() -> None:
    paper = schwenk.SCALES["paper"]
    assert (paper.layers, paper.width, paper.embedding, paper.pieces) == (1, 512, 384, 20_000)
    assert (paper.dropout, paper.clip, paper.rate, paper.batch) == (0.2, 2.0, 0.01, 96)
    mixture = schwenk.mixture_of(paper)
    assert [len(path.targets) for path in mixture.paths] == [5] * 6
    seen = paper.steps * paper.batch / len(mixture.paths)  # rows, by each encoder
    assert seen / 8_300_000 == pytest.approx(5)


@pytest.mark.parametrize(
    ("changes", "epochs"),
    [
        (["strategy=1:N"], 30),
        (["strategy=1:1", "targets=zh"], 25),
        (["strategy=1:1", "languages=en,fr,es,ar", "targets=ar"], 15),
        (["strategy=M:1", "languages=en,fr,es,ar", "targets=ar", "mixture=1"], 15),
        (["strategy=M:1", "languages=en,fr,es,ar", "targets=ar", "mixture=2"], 7.5),
        (["strategy=M:1", "languages=en,fr,es,ar", "targets=ar", "mixture=3"], 5),
    ],
)
def test_each_encoder_sees_the_papers_text_five_times(changes: list[str], epochs: float) -> None:
    """A batch that several encoders read is one of the epoch of each."""
    paper = change(schwenk.SCALES["paper"], changes)
    assert schwenk.paper_steps(paper) == pytest.approx(epochs * 8_300_000 / 96, abs=1)


@pytest.mark.parametrize("scale", SCALES)
def test_three_languages_are_mixed_at_every_scale(scale: Scale) -> None:
    """Table 3 is about three inputs; more languages than that do not stand in the way."""
    mixture = schwenk.mixture_of(change(schwenk.SCALES[scale], ["strategy=M:1"]))
    assert len(mixture.sources) == 3
    assert mixture.targets == ("en",)


@pytest.mark.parametrize(
    "changes",
    [
        ["strategy=1:1", "targets=xx"],
        ["strategy=1:1", "targets="],
        ["strategy=M:1", "targets="],
        ["strategy=M:1", "mixture=9z"],
        ["strategy=M:1", "languages=en,de,fr"],
        ["languages=en"],
        ["strategy=M:N", "together=4"],
        ["strategy=2:2"],
    ],
)
def test_impossible_combinations_are_refused(changes: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        change(schwenk.SCALES["small"], changes)
    last = changes[-1].partition("=")[0]
    assert caught.value.field in (last, "--set")
    assert last in str(caught.value)


@pytest.mark.parametrize(
    ("languages", "said"),
    [("en,de,xx", "no sentence in xx"), ("de,fr,es", "pairs with en.*languages=en,de,fr,es")],
)
def test_languages_without_text_are_refused_and_leave_no_run(
    tmp_path: Path, languages: str, said: str
) -> None:
    chosen = (f"languages={languages}", "steps=2", "develop_every=0")
    with pytest.raises(InputError, match=said) as caught:
        train(open_run("schwenk", "smoke", tmp_path / "run", assignments=chosen))
    assert caught.value.field == "languages"
    assert not (tmp_path / "run" / "run.json").exists()
    assert not (tmp_path / "run" / "cache").exists()
    open_run("schwenk", "smoke", tmp_path / "run", assignments=("languages=en,de",))
