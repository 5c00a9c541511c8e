from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from service.errors import ConflictError
from service.inference.session import Vectors
from service.search.corpora import Corpora, Corpus
from service.search.document import Document
from service.search.mining import Side, mine
from tests.service.search.samples import DIMENSION, sample_vectors

PAIRS, ALONE = 40, 25
WIDE = 32


def side(corpora: Corpora, name: str, vectors: Vectors, language: str = "en") -> Corpus:
    corpus = corpora.create(name, model="m", space="s", dimension=vectors.shape[1])
    corpus.upsert([Document(f"{name}{i}", "t", language) for i in range(len(vectors))], vectors)
    return corpus


def parallel(corpora: Corpora) -> tuple[Corpus, Corpus]:
    """Two corpora whose first `PAIRS` are translations; the rest has none."""
    shared = sample_vectors(PAIRS, seed=1, dimension=WIDE)
    noise = 0.3 * sample_vectors(PAIRS, seed=2, dimension=WIDE)
    return (
        side(corpora, "a", np.vstack([shared, sample_vectors(ALONE, seed=3, dimension=WIDE)])),
        side(
            corpora,
            "b",
            np.vstack([shared + noise, sample_vectors(ALONE, seed=4, dimension=WIDE)]),
            "de",
        ),
    )


def test_translations_are_found_and_what_has_none_is_left(corpora: Corpora) -> None:
    a, b = parallel(corpora)
    told: list[tuple[int, int]] = []
    mined = mine(Side(a), Side(b), threshold=1.3, progress=lambda *done: told.append(done))
    assert {(pair.source, pair.target) for pair in mined} == {
        (f"a{i}", f"b{i}") for i in range(PAIRS)
    }
    margins = [pair.margin for pair in mined]
    assert margins == sorted(margins, reverse=True)
    assert told[-1] == (2 * (PAIRS + ALONE),) * 2


def test_without_a_threshold_each_is_in_one_pair_at_most(corpora: Corpora) -> None:
    a, b = parallel(corpora)
    mined = mine(Side(a), Side(b), threshold=-np.inf)
    assert len({p.source for p in mined}) == len({p.target for p in mined}) == len(mined) > PAIRS


def test_a_document_that_is_deleted_meanwhile_ends_nothing(
    corpora: Corpora, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = parallel(corpora)
    real = a.vectors_of

    def vectors_of(ids: Sequence[str]) -> Vectors:
        a.delete(["a0"])
        return real(ids)

    monkeypatch.setattr(a, "vectors_of", vectors_of)
    mined = mine(Side(a), Side(b), threshold=1.3)
    assert {pair.source for pair in mined} == {f"a{i}" for i in range(1, PAIRS)}


def test_margins_are_those_of_the_paper(corpora: Corpora) -> None:
    """The reference is Artetxe & Schwenk's equation over the matrix of all cosines."""
    a, b = parallel(corpora)
    n = PAIRS + ALONE
    xs, ys = a.vectors_of([f"a{i}" for i in range(n)]), b.vectors_of([f"b{i}" for i in range(n)])
    cosines = xs @ ys.T
    forward = np.sort(cosines, axis=1)[:, -4:].mean(axis=1)
    backward = np.sort(cosines, axis=0)[-4:].mean(axis=0)
    margins = cosines / ((forward[:, None] + backward[None]) / 2)
    for pair in mine(Side(a), Side(b), threshold=1.2):
        row, column = int(pair.source[1:]), int(pair.target[1:])
        assert pair.margin == pytest.approx(margins[row, column], abs=1e-5)
        assert pair.cosine == pytest.approx(cosines[row, column], abs=1e-5)


def test_two_languages_of_one_corpus(corpora: Corpora) -> None:
    shared = sample_vectors(PAIRS, seed=1, dimension=WIDE)
    both = corpora.create("both", model="m", space="s", dimension=WIDE)
    for language in ("en", "de"):
        both.upsert([Document(f"{language}{i}", "t", language) for i in range(PAIRS)], shared)
    mined = mine(Side(both, ["en"]), Side(both, ["de"]))
    assert {(p.source, p.target) for p in mined} == {(f"en{i}", f"de{i}") for i in range(PAIRS)}


def test_empty_sides_have_no_pairs(corpora: Corpora) -> None:
    empty = corpora.create("empty", model="m", space="s", dimension=WIDE)
    assert mine(Side(empty), Side(parallel(corpora)[0])) == []


def test_another_space_is_refused(corpora: Corpora) -> None:
    a, _ = parallel(corpora)
    other = corpora.create("other", model="m", space="elsewhere", dimension=DIMENSION)
    with pytest.raises(ConflictError, match="elsewhere"):
        mine(Side(a), Side(other))
