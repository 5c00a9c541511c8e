"""Encodings to search: one a line of a text file, kept in the work folder for the next run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from service.inference.encoder import Encoder
from service.inference.session import Vectors
from service.inference.vectors import normalise
from service.shipped import DEMO_CORPUS, shipped_models

QUERIES = 1_000
NOISE = 0.02
AT_ONCE = 8_192


def encodings(texts: Path | None, rows: int, work: Path) -> tuple[Vectors, Vectors, str]:
    """Return vectors [rows, E] to search, queries [QUERIES, E] that are not among them, and a word.

    The queries are the last lines of the file. Where it has too few lines the vectors are repeated
    with noise of 2 % of their length, and the word says so.
    """
    kept = work / "encodings.npy"
    wanted = rows + QUERIES
    if not kept.exists() or len(np.load(kept, mmap_mode="r")) < _available(texts, wanted):
        np.save(kept, _encode(_lines(texts)[:wanted]))
    real = np.load(kept, mmap_mode="r")
    queries = np.ascontiguousarray(real[-QUERIES:])
    base = real[: len(real) - QUERIES]
    if len(base) >= rows:
        kind = "real encodings" if texts else "encodings of the demo corpus, eight times over"
        return np.ascontiguousarray(base[:rows]), queries, f"{rows:,} {kind}"
    random = np.random.default_rng(0)
    picked = np.resize(np.arange(len(base)), rows)
    noise = random.standard_normal((rows, base.shape[1])).astype(np.float32)
    noise[: len(base)] = 0
    vectors = normalise(base[picked] + NOISE / np.sqrt(base.shape[1]) * noise)
    return vectors, queries, f"{len(base):,} real encodings, repeated with 2 % of noise to {rows:,}"


def _lines(texts: Path | None) -> list[str]:
    if texts is not None:
        return texts.read_text("utf-8").splitlines()
    lines = DEMO_CORPUS.read_text("utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines] * 8


def _available(texts: Path | None, wanted: int) -> int:
    return min(wanted, len(_lines(texts)))


def _encode(texts: list[str]) -> Vectors:
    encoder = Encoder(shipped_models()[0])
    parts = [encoder.encode(texts[at : at + AT_ONCE]) for at in range(0, len(texts), AT_ONCE)]
    return np.concatenate(parts)


def exact_threshold(vectors: Vectors, queries: Vectors, k: int = 10) -> Vectors:
    """Return float32 [queries]: the score of each query's k-th nearest, by comparing all."""
    best = np.full((len(queries), k), -np.inf, dtype=np.float32)
    for at in range(0, len(vectors), 65_536):
        scores = np.concatenate([best, queries @ vectors[at : at + 65_536].T], axis=1)
        best = -np.partition(-scores, k - 1, axis=1)[:, :k]
    least: Vectors = best.min(axis=1)
    return least
