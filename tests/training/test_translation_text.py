"""Text for systems with one vocabulary: from files to batches."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

from service.errors import InputError
from tests.training.translation_parts import make_system
from training.data.batches import Sentences
from training.data.folder import DataFolder
from training.data.parallel_rows import joined_rows, without_long
from training.data.templates import write_template_folder
from training.data.translation_batches import BatchLimits
from training.decoders.targets import force
from training.loop import LoopOptions
from training.parameters import TextParameters
from training.paths import TrainingPath, each_to_pivots, even
from training.pivots import pivot_mixture
from training.schedules import Constant
from training.translation_text import TranslationText, prepare_translation_text
from training.workspace import Workspace

LANGUAGES = ("en", "de", "es")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> TranslationText:
    root = tmp_path_factory.mktemp("text")
    write_template_folder(root / "data")
    choice = TextParameters(
        languages=LANGUAGES, sources=("template_sentences",), held_out_source=""
    )
    work = Workspace(root / "run", lambda: DataFolder(root / "data"), torch.device("cpu"))
    return prepare_translation_text(choice, work, pieces=150)


def test_batches_hold_translations_in_the_shared_vocabulary(text: TranslationText) -> None:
    mixture = pivot_mixture(LANGUAGES, ("en",), constrained=False)
    batches = text.batches(mixture, limits=BatchLimits(tokens=200, longest=60), seed=0)
    texts = {sentence: number for number, sentence in enumerate(text.corpus.texts)}
    known = {tuple(tokens): s for s, tokens in zip(texts, _ids(text, list(texts)), strict=True)}
    pairs = {tuple(sorted(pair)) for pair in text.corpus.pairs.tolist()}
    batch = batches.draw()
    ((_, source),) = batch.sources.items()
    ((_, target),) = batch.targets.items()
    for one, other in zip(_rows(source), _rows(target), strict=True):
        numbers = texts[known[one]], texts[known[other]]
        assert tuple(sorted(numbers)) in pairs


def test_sentences_that_are_too_long_are_left_out_not_cut(text: TranslationText) -> None:
    lengths = np.array([len(tokens) for tokens in _ids(text, text.corpus.texts)])
    longest = int(np.median(lengths))
    mixture = pivot_mixture(LANGUAGES, ("en",), constrained=False)
    batches = text.batches(mixture, limits=BatchLimits(tokens=200, longest=longest), seed=0)
    known = {tuple(tokens) for tokens in _ids(text, text.corpus.texts)}
    for _ in range(5):
        for side in (*(batch := batches.draw()).sources.values(), *batch.targets.values()):
            assert int(side.lengths.max()) <= longest
            assert set(_rows(side)) <= known


def test_it_is_refused_before_training_where_nothing_can_choose_the_weights(
    text: TranslationText,
) -> None:
    system = make_system(("en", "de"), ("en", "de"))
    phase = partial(
        text.phase,
        system,
        even(each_to_pivots(("en", "de"), ("en", "de"))),
        limits=BatchLimits(tokens=200, longest=60),
        optimiser=torch.optim.SGD(system.parameters()),
        schedule=Constant(),
        seed=0,
    )
    with pytest.raises(InputError, match=r"by search_error .* is nothing"):
        phase(options=LoopOptions(steps=4, develop_every=2, watch="search_error"))
    assert phase(options=LoopOptions(steps=4, watch="search_error")).develop is not None


def test_frequencies_are_those_of_a_walk_through_all_targets(text: TranslationText) -> None:
    path = TrainingPath(("en",), ("de",))
    longest = 20  # some are left out
    rows = without_long(joined_rows(text.corpus, "en"), text._tokens(longest), longest=longest)
    limits = BatchLimits(tokens=200, sentences=1, longest=longest)
    batches = text.batches(even([path]), limits=limits, seed=0)
    counts = np.ones(text.shared.size)
    for _ in rows.complete(path.languages):
        answers = force(batches.draw().targets["de"]).answers
        counts += np.bincount(answers, minlength=text.shared.size)
    found = text.log_frequencies(path, "de", longest=longest)
    np.testing.assert_allclose(found.exp(), counts / counts.sum(), rtol=1e-5)


def _ids(text: TranslationText, sentences: list[str]) -> list[list[int]]:
    return [
        list(map(int, row))
        for row in text.shared.tokenizer.encode(sentences, max_tokens=500).tokens
    ]


def _rows(side: Sentences) -> list[tuple[int, ...]]:
    ids, mask = side.padded()
    return [tuple(row[kept].tolist()) for row, kept in zip(ids, mask, strict=True)]
