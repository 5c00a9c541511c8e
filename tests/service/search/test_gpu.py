"""Which device searches, and that its copy follows the index.

A second index on the CPU stands for the GPU's: FAISS' own answers are its authors' to test; ours is
when it is asked, and with what.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.errors import SettingsError
from service.inference.session import Vectors
from service.search import gpu, index
from service.search.corpora import Corpora, Corpus
from service.search.filters import Filter
from service.search.gpu import gpu_wanted
from service.search.native import faiss
from tests.service.search.samples import DIMENSION, sample_documents, sample_vectors

ROWS = 100


class Device:
    """A GPU that counts what it is asked, and fails when told to."""

    def __init__(self) -> None:
        self.copies = 0
        self.searches = 0
        self.fails = False

    def copy(self, *arguments: object) -> Copy:
        """Stand for `index_cpu_to_gpu(resources, number, flat)`."""
        self.copies += 1
        return Copy(self, arguments[-1])


class Copy:
    """An index on the device."""

    def __init__(self, device: Device, flat: object) -> None:
        self._device = device
        self._flat = faiss.clone_index(flat)

    @property
    def ntotal(self) -> int:
        return int(self._flat.ntotal)

    def add(self, vectors: Vectors) -> None:
        self._flat.add(vectors)

    def search(self, queries: Vectors, k: int) -> object:
        if self._device.fails:
            raise RuntimeError("out of memory")
        self._device.searches += 1
        return self._flat.search(queries, k)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    device = Device()
    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 1, raising=False)
    monkeypatch.setattr(faiss, "StandardGpuResources", object, raising=False)
    monkeypatch.setattr(faiss, "index_cpu_to_gpu", device.copy, raising=False)
    monkeypatch.setattr(gpu, "GPU_ROWS", 50)
    monkeypatch.setattr(index, "COMPACT_AT_ONCE", 1_000)
    return device


@pytest.fixture
def pair(device: Device, tmp_path: Path) -> Iterator[tuple[Corpus, Corpus]]:
    """The same corpus with a GPU and without."""
    stores = [Corpora(tmp_path / f"{there}", gpu=there) for there in (True, False)]
    corpora = [c.create("c", model="m", space="s", dimension=DIMENSION) for c in stores]
    for corpus in corpora:
        corpus.upsert(sample_documents(ROWS), sample_vectors(ROWS))
    yield corpora[0], corpora[1]
    for store in stores:
        store.close()


def same(pair: tuple[Corpus, Corpus], filter: Filter | None = None) -> None:
    queries = sample_vectors(4, seed=5)
    with_gpu, without = (corpus.search(queries, k=20, filter=filter) for corpus in pair)
    assert with_gpu == without


def test_the_gpu_answers_and_follows_writes(device: Device, pair: tuple[Corpus, Corpus]) -> None:
    same(pair)
    assert (device.searches, device.copies) == (1, 1)
    for corpus in pair:
        corpus.upsert(sample_documents(30, start=ROWS), sample_vectors(30, seed=3))
    same(pair)
    assert (device.searches, device.copies) == (2, 1), "what was added is added, no more"
    for corpus in pair:
        corpus.delete([f"d{i}" for i in range(40)])  # enough to be taken out of the index
    same(pair)
    assert (device.searches, device.copies) == (3, 2)


def test_the_cpu_does_what_a_gpu_cannot(device: Device, pair: tuple[Corpus, Corpus]) -> None:
    same(pair, filter={"topic": "law"})
    for corpus in pair:
        corpus.delete(["d3"])  # marked
    same(pair)
    assert device.searches == 0


def test_a_small_corpus_stays_on_the_cpu(
    device: Device, pair: tuple[Corpus, Corpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "GPU_ROWS", ROWS + 1)
    same(pair)
    assert device.searches == 0


def test_a_gpu_that_fails_is_replaced_by_the_cpu_and_named(
    device: Device, pair: tuple[Corpus, Corpus], caplog: pytest.LogCaptureFixture
) -> None:
    device.fails = True
    same(pair)
    same(pair)
    assert device.copies == 1, "it is not asked again"
    assert "out of memory" in caplog.text
    assert "CPU" in caplog.text


def test_which_device(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [gpu_wanted("auto"), gpu_wanted("gpu"), gpu_wanted("cpu")] == [True, True, False]
    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 0)
    assert [gpu_wanted("auto"), gpu_wanted("cpu")] == [False, False]
    with pytest.raises(SettingsError, match="sees no GPU") as refused:
        gpu_wanted("gpu")
    assert refused.value.field == "search_device"
    monkeypatch.delattr(faiss, "StandardGpuResources")
    with pytest.raises(SettingsError, match=r"interlingua\[gpu\]"):
        gpu_wanted("gpu")
    assert not gpu_wanted("auto")
