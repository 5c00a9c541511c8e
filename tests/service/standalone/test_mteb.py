from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from service.inference.encoder import Encoder as Inner
from service.standalone.mteb import MtebEncoder


@dataclass(frozen=True)
class Task:
    """What of mteb's TaskMetadata decides a prompt."""

    name: str = "SomeTask"
    type: str = "Retrieval"


def encode(model: MtebEncoder, side: str | None, texts: list[str]) -> object:
    return model.encode(
        [{"text": texts[:1]}, {"text": texts[1:]}], task_metadata=Task(), hf_split="test",
        hf_subset="default", prompt_type=side, show_progress_bar=False,
    )  # fmt: skip


def test_batches_are_put_together(tiny_bundle: Path, tiny_encoder: Inner) -> None:
    texts = ["The cat sleeps.", "Fresh bread", "sea"]
    found = encode(MtebEncoder(tiny_bundle), None, texts)
    np.testing.assert_allclose(np.asarray(found), tiny_encoder.encode(texts), atol=1e-6)


def test_the_side_of_a_search_chooses_the_prompt(
    searching_bundle: Path, tiny_encoder: Inner
) -> None:
    model = MtebEncoder(searching_bundle)
    expected = tiny_encoder.encode(["question: a", "question: b"])
    np.testing.assert_allclose(np.asarray(encode(model, "query", ["a", "b"])), expected, atol=1e-6)
    plain = tiny_encoder.encode(["a", "b"])  # mteb has no side called `passage`
    np.testing.assert_allclose(np.asarray(encode(model, "document", ["a", "b"])), plain, atol=1e-6)


def test_mteb_takes_it_for_an_encoder(tiny_bundle: Path) -> None:
    """mteb's own evaluator on a task of ours; in an environment that has mteb."""
    mteb = pytest.importorskip("mteb", reason="pip install mteb; docs/library.md says how")
    from mteb.models.models_protocols import EncoderProtocol

    model = MtebEncoder(tiny_bundle)
    assert isinstance(model, EncoderProtocol)
    assert model.mteb_model_meta.embed_dim == 16
    assert mteb
