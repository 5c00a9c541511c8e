"""The multi-task dual encoder from templates to vectors."""

import copy

import numpy as np
import pytest
import torch

from service.bundle.reader import Bundle
from service.errors import InputError
from service.inference.encoder import Encoder
from training.checkpoints import load_checkpoint
from training.export import PARITY, check_parity
from training.metrics import METRICS_FILE, read_metrics
from training.optimisers import sgd_with_table_factor
from training.recipe import change
from training.recipes import chidambaram
from training.run import Run, open_run, train
from training.task_corpus import TASKS
from training.tasks import MultiTask

SMOKE = chidambaram.SCALES["smoke"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return open_run("chidambaram", "smoke", tmp_path_factory.mktemp("chidambaram"))


def make_system() -> MultiTask:
    return chidambaram.build_system(SMOKE, 50)


def test_translations_are_nearer_than_others_in_the_served_runtime(bundle: Bundle) -> None:
    encoder = Encoder(bundle)
    assert not encoder.needs_language
    english = encoder.encode(["The doctor buys the house.", "My sister loves the river."])
    german = encoder.encode(["Der Arzt kauft das Haus.", "Meine Schwester liebt den Fluss."])
    scores = english @ german.T
    assert scores.diagonal().min() > scores[[0, 1], [1, 0]].max()


def test_words_never_seen_are_known_by_their_characters(bundle: Bundle) -> None:
    encoder = Encoder(bundle)
    seen, near, far = encoder.encode(["sister", "sisters", "xqzvwk"])
    assert seen @ near > seen @ far


def test_a_vector_does_not_depend_on_its_batch(bundle: Bundle) -> None:
    encoder = Encoder(bundle)
    texts = ["house", "The doctor buys the unpronounceably long house of my old sister.", ""]
    alone = np.stack([encoder.encode(text) for text in texts])
    np.testing.assert_allclose(encoder.encode(texts), alone, atol=1e-5)


@pytest.mark.usefixtures("bundle")
def test_torch_and_onnx_agree(run: Run) -> None:
    model = chidambaram.model(run.parameters, run.work)
    assert check_parity(model.towers["*"], model.dimension, seed=5) < PARITY


@pytest.mark.usefixtures("bundle")
def test_negatives_were_mined_with_a_model_of_ranking_alone(run: Run) -> None:
    content = load_checkpoint(run.work.directory / "ranking" / "checkpoint.pt")
    assert content is not None
    metrics = (run.work.directory / "ranking" / "metrics.jsonl").read_text()
    assert "translation de" in metrics
    assert "response" not in metrics
    mined = np.load(run.work.cache / "negatives-translation-de.npy")
    assert mined.shape[1] == 5


@pytest.mark.usefixtures("bundle")
def test_all_six_tasks_took_turns(run: Run) -> None:
    rows = read_metrics(run.work.stage("train") / METRICS_FILE, "train")
    logged = {name for row in rows for name in row}
    assert {name for name in logged if name.partition(" ")[0] in TASKS} == {
        *("translation de", "response en", "response de"),
        *("quick-thought en", "quick-thought de", "inference"),
    }
    for row in rows:  # of 24 steps, four of each
        losses = [row[name] for name in row if name.partition(" ")[0] in TASKS]
        assert row["loss"] == pytest.approx(sum(losses) / 6)


def test_steps_of_word_and_ngram_vectors_are_a_hundred_times_as_long() -> None:
    system = make_system()
    before = copy.deepcopy(system)
    for parameter in system.parameters():
        parameter.grad = torch.ones_like(parameter)
    paper = chidambaram.SCALES["paper"]
    sgd_with_table_factor(system, lr=paper.rate, factor=paper.table_factor).step()
    tables = {"encoder.tokens.embedding.word_table", "encoder.tokens.embedding.ngram_table"}
    for (name, after), start in zip(system.named_parameters(), before.parameters(), strict=True):
        step = 0.8 if name in tables else 0.008
        torch.testing.assert_close(start - after, torch.full_like(after, step), atol=1e-6, rtol=0)


def test_the_papers_numbers() -> None:
    p = chidambaram.SCALES["paper"]
    assert (p.words, p.unknown_buckets, p.ngram_buckets) == (200_000, 10_000, 200_000)
    assert (p.layers, p.width, p.heads, p.filter, p.embedding) == (3, 512, 8, 2048, 320)
    assert (p.tower, p.inference, p.negatives, p.longest) == (320, 512, 5, 64)
    assert (p.batch, p.rate, p.table_factor, p.steps) == (100, 0.008, 100, 30_000_000)


@pytest.mark.parametrize("assignment", ["tasks=inference", "tasks=translation,x", "heads=5"])
def test_impossible_combinations_are_refused(assignment: str) -> None:
    with pytest.raises(InputError):
        change(SMOKE, [assignment])


@pytest.mark.slow
def test_ranking_alone_with_pieces(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = open_run(
        "chidambaram",
        "smoke",
        tmp_path_factory.mktemp("pieces"),
        assignments=["tasks=translation", "vocabulary=pieces", "negatives=0"],
    )
    bundle = train(run)
    assert bundle is not None
    assert bundle.manifest.licence == "Apache-2.0"
    assert Encoder(bundle).encode("The king").shape == (32,)
