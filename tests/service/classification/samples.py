"""A head to test with."""

from __future__ import annotations

import numpy as np

from service.bundle.manifest import DataSource, Measurement
from service.classification.manifest import FittedOn, HeadManifest
from service.inference.session import Vectors

DIMENSION = 16
LABELS = ("science", "sport", "travel")


def head_manifest(**changes: object) -> HeadManifest:
    """A manifest that fits `head_weights`."""
    fields: dict[str, object] = {
        "name": "topic",
        "description": "Which of three topics a sentence is about.",
        "labels": LABELS,
        "space": "tiny-space",
        "encoder": FittedOn(name="tiny", identity="0123456789abcdef"),
        "dimension": DIMENSION,
        "temperature": 0.5,
        "quality": (
            Measurement(
                protocol="topic",
                dataset="toy",
                metric="accuracy %",
                value=87.65,
                by_language={"de": 90.0},
                command="interlingua evaluate",
                machine="a desk",
            ),
        ),
        "data": (
            DataSource(name="toy", licence="CC0-1.0", attribution="nobody", sentence_pairs=1234),
        ),
        "limits": ("It knows no cooking.",),
        "licence": "Apache-2.0",
    }
    return HeadManifest.model_validate(fields | changes)


def head_weights() -> tuple[Vectors, Vectors]:
    """Random weights [labels, dimension] and bias [labels]."""
    random = np.random.default_rng(3)
    weights = random.standard_normal((len(LABELS), DIMENSION)).astype(np.float32)
    return weights, random.standard_normal(len(LABELS)).astype(np.float32)
