"""BiCVM and BiCVM+ from templates to vectors."""

from pathlib import Path

import numpy as np
import pytest

from service.bundle.reader import Bundle
from service.errors import InputError
from service.inference.encoder import Encoder
from training.export import PARITY, check_parity
from training.recipe import change
from training.recipes import bicvm
from training.run import Run, open_run, train


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A trained BiCVM+."""
    plus = bicvm.RECIPE.systems["BiCVM+"]
    return open_run("bicvm", "smoke", tmp_path_factory.mktemp("bicvm"), assignments=plus)


def test_translations_are_near_in_the_served_runtime(bundle: Bundle) -> None:
    encoder = Encoder(bundle)
    assert encoder.needs_language
    sentences = {
        "en": ["The doctor buys the house.", "My sister loves the river."],
        "de": ["Der Arzt kauft das Haus.", "Meine Schwester liebt den Fluss."],
        "fr": ["Le médecin achète la maison.", "Ma sœur aime la rivière."],
    }
    vectors = {name: encoder.encode(texts, language=name) for name, texts in sentences.items()}
    for one, other in (("en", "de"), ("en", "fr"), ("de", "fr")):
        scores = vectors[one] @ vectors[other].T
        assert scores.diagonal().min() > 0.6, (one, other)
        assert scores.diagonal().min() > scores[[0, 1], [1, 0]].max() + 0.3, (one, other)


def test_the_language_is_detected_where_it_is_not_named(bundle: Bundle) -> None:
    encoder = Encoder(bundle)
    text = "Meine Schwester vergisst das alte Buch und die Nachbarn."
    np.testing.assert_array_equal(encoder.encode(text), encoder.encode(text, language="de"))


def test_a_vector_is_the_sum_of_its_words(bundle: Bundle) -> None:
    encoder = Encoder(bundle)
    whole = encoder.encode("the red apple", language="en", normalize=False)
    words = encoder.encode(["the", "red", "apple"], language="en", normalize=False)
    np.testing.assert_allclose(whole, words.sum(0), atol=1e-5)


@pytest.mark.usefixtures("bundle")
def test_torch_and_onnx_agree_for_every_language(run: Run) -> None:
    model = bicvm.model(run.parameters, run.work)
    assert set(model.towers) == {"en", "de", "fr"}
    for tower in model.towers.values():
        assert check_parity(tower, model.dimension) < PARITY


@pytest.mark.usefixtures("bundle")
def test_vocabularies_are_apart(run: Run) -> None:
    words = bicvm.model(run.parameters, run.work).towers
    assert b"haus" in words["de"].tokenizer
    assert b"haus" not in words["en"].tokenizer
    assert b"house" not in words["fr"].tokenizer


def test_the_papers_numbers() -> None:
    paper = bicvm.SCALES["paper"]
    assert (paper.dimension, paper.margin, paper.noise, paper.noise_pool) == (40, 50, 50, None)
    assert (paper.l2, paper.rate, paper.iterations) == (1, 0.1, 50)
    assert (paper.held_out_source, paper.held_out_first) == ("europarl", 500_000)


@pytest.mark.parametrize("assignment", ["languages=en", "noise_pool=3", "noise=0"])
def test_impossible_combinations_are_refused(assignment: str) -> None:
    with pytest.raises(InputError):
        change(bicvm.SCALES["small"], [assignment])


def test_a_language_without_text_is_refused_and_not_left_out(tmp_path: Path) -> None:
    run = open_run("bicvm", "smoke", tmp_path / "run", assignments=("languages=en,de,xx",))
    with pytest.raises(InputError, match="no sentence in xx") as caught:
        train(run)
    assert caught.value.field == "languages"
