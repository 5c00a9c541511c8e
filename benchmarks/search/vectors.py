"""Encodings to search: one a line of a text file, kept in the work folder for the next run."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path

import numpy as np

from benchmarks.models import FAST
from service.inference.encoder import Encoder
from service.inference.session import Vectors
from service.inference.vectors import normalise
from service.shipped import DEMO_CORPUS

QUERIES = 1_000
NOISE = 0.02
AT_ONCE = 8_192


def encodings(texts: Path | None, rows: int, work: Path) -> tuple[Vectors, Vectors, str]:
    """Return vectors [rows, E] to search, queries [QUERIES, E], and a word on what they are.

    The queries are the last lines of the file, so that they are not among the vectors; those of the
    demo corpus, which is taken eight times over, are. Where there are too few lines the vectors are
    repeated with noise of 2 % of their length, and the word says so.
    """
    lines = _lines(texts)[: rows + QUERIES]
    if len(lines) <= QUERIES:
        raise SystemExit(f"{texts} has {len(lines):,} lines; {QUERIES + 1:,} are needed at least")
    real = _kept(work, texts, lines)
    queries = np.ascontiguousarray(real[-QUERIES:])
    base = real[: len(real) - QUERIES]
    kind = "real encodings" if texts else "encodings of the demo corpus, eight times over"
    if len(base) >= rows:
        return np.ascontiguousarray(base[:rows]), queries, f"{rows:,} {kind}"
    random = np.random.default_rng(0)
    picked = np.resize(np.arange(len(base)), rows)
    noise = random.standard_normal((rows, base.shape[1]), dtype=np.float32)
    noise[: len(base)] = 0
    vectors = normalise(base[picked] + NOISE / math.sqrt(base.shape[1]) * noise)
    return vectors, queries, f"{len(base):,} {kind}, repeated with 2 % of noise to {rows:,}"


def _kept(work: Path, texts: Path | None, lines: list[str]) -> Vectors:
    """Return the encodings of at least `lines`, from the work folder where they are these."""
    kept, source = work / "encodings.npy", work / "encodings.source"
    model = FAST / "bundle.json"
    content = (texts or DEMO_CORPUS).read_bytes() + model.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    same = source.exists() and source.read_text() == digest
    if not same or len(np.load(kept, mmap_mode="r")) < len(lines):
        source.unlink(missing_ok=True)
        # Beside it first: what an earlier call returned may be a map of the old file.
        new = work / "encodings.new.npy"
        np.save(new, _encode(lines))
        new.replace(kept)
        source.write_text(digest)
    found: Vectors = np.load(kept, mmap_mode="r")
    return found


def _lines(texts: Path | None) -> list[str]:
    if texts is not None:
        return texts.read_text("utf-8").splitlines()
    lines = DEMO_CORPUS.read_text("utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines] * 8


def _encode(texts: list[str]) -> Vectors:
    encoder = Encoder(FAST)
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
