"""The demo corpus as a search task: is a document's nearest neighbour one of its translations?

Every document is a query against all the others, in all languages at once; and, for the matrix,
against those of one language. The corpus comes with the package, so this needs no data folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from service.errors import InputError
from service.inference.session import Vectors
from service.shipped import DEMO_CORPUS
from training.data.folder import DataFolder
from training.data.lines import BrokenLines, read_lines
from training.evaluation.figures import Figure
from training.evaluation.models import SentenceModel, vectors_of

NAME = "demo"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoCorpus:
    """What may be changed with `--set`."""

    languages: tuple[str, ...] = ()  # the model's where none
    path: Path = DEMO_CORPUS  # JSON Lines: text, language, metadata.statement

    def measure(self, model: SentenceModel, _: Callable[[], DataFolder]) -> list[Figure]:
        """Return P@1 among all documents, by the query's language, and the matrix of languages.

        Translations of one another have the same `metadata.statement`.

        Raises:
            InputError: No document is in any of the languages, or a line is no such document.
        """
        wanted = set(self.languages or model.languages)
        documents = [row for row in _read(self.path) if row[1] in wanted]
        if not documents:
            raise InputError(f"{self.path} has no document in {', '.join(sorted(wanted))}.")
        language = np.array([row[1] for row in documents])
        statement = np.array([row[2] for row in documents])
        vectors = np.zeros((len(documents), model.dimension), dtype=np.float32)
        names = sorted(set(language))
        for name in names:
            places = np.flatnonzero(language == name)
            vectors[places] = vectors_of(model, [documents[i][0] for i in places], name, unit=True)
        hits = _hits(vectors, vectors, statement, statement, own=True)
        return [
            Figure(
                protocol=NAME,
                dataset=f"{self.path.name}, {len(documents):,} documents in {len(names)} languages",
                metric="P@1 among all others, %",
                value=100.0 * float(hits.mean()),
                by_language={name: 100.0 * float(hits[language == name].mean()) for name in names},
                matrix=_matrix(vectors, language, statement),
            )
        ]


def _matrix(
    vectors: Vectors, language: np.ndarray, statement: np.ndarray
) -> dict[str, dict[str, float]]:
    names = sorted(set(language))
    rows = {name: np.flatnonzero(language == name) for name in names}
    return {
        query: {
            target: 100.0
            * float(
                _hits(
                    vectors[rows[query]],
                    vectors[rows[target]],
                    statement[rows[query]],
                    statement[rows[target]],
                    own=False,
                ).mean()
            )
            for target in names
            if target != query
        }
        for query in names
    }


def _hits(
    queries: Vectors,
    targets: Vectors,
    asked: np.ndarray,
    found: np.ndarray,
    *,
    own: bool,
) -> np.ndarray:
    """Return bool [queries], whether the nearest target has the query's statement.

    Args:
        queries: float32 [queries, D].
        targets: float32 [targets, D].
        asked: The statement of each query.
        found: The statement of each target.
        own: Whether row i of both is the same document, which must not find itself.
    """
    scores = queries @ targets.T
    if own:
        np.fill_diagonal(scores, -np.inf)
    return np.asarray(found[scores.argmax(1)] == asked)


def _read(path: Path) -> list[tuple[str, str, str]]:
    documents = []
    for number, line in enumerate(read_lines(path, BrokenLines("refuse")), start=1):
        try:
            row = json.loads(line or "")
            documents.append((row["text"], row["language"], row["metadata"]["statement"]))
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise InputError(
                f"{path}:{number}: no document with text, language and metadata.statement."
            ) from error
    return documents
