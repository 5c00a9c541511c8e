"""Token vectors in parts."""

from __future__ import annotations

from typing import Any

import faiss
import numpy as np
import numpy.typing as npt
import pytest
import torch

from training.encoders.product_vectors import ProductVectors, product_vectors

VOCABULARY, WIDTH, PARTS = 2000, 32, 8


@pytest.fixture(scope="module")
def vectors() -> npt.NDArray[np.float32]:
    return np.random.default_rng(0).standard_normal((VOCABULARY, WIDTH)).astype(np.float32)


def squared_error(
    found: ProductVectors, vectors: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    with torch.inference_mode():
        read = found(torch.arange(len(vectors))).numpy()
    error: npt.NDArray[np.float32] = np.square(read - vectors).sum(1)
    return error


def test_each_part_is_its_nearest_entry(vectors: npt.NDArray[np.float32]) -> None:
    found = product_vectors(vectors, np.ones(VOCABULARY, dtype=np.int64), parts=PARTS, seed=0)
    books: npt.NDArray[np.float32] = found.books.detach().numpy().reshape(PARTS, 256, -1)
    parts = vectors.reshape(VOCABULARY, PARTS, -1)
    for part in range(PARTS):
        distances = np.square(parts[:, part, None] - books[part]).sum(2)
        nearest = np.take_along_axis(distances, found.codes[:, part, None].long().numpy(), axis=1)
        np.testing.assert_allclose(nearest[:, 0], distances.min(1), rtol=1e-4, atol=1e-5)


def test_vectors_of_any_shape_of_ids(vectors: npt.NDArray[np.float32]) -> None:
    found = product_vectors(vectors, np.ones(VOCABULARY, dtype=np.int64), parts=PARTS, seed=0)
    ids = torch.tensor([[3, 1999, 0], [3, 3, 7]])
    assert found(ids).shape == (2, 3, WIDTH)
    assert torch.equal(found(ids)[0, 0], found(torch.tensor([3]))[0])


def test_as_near_as_faiss_itself(vectors: npt.NDArray[np.float32]) -> None:
    found = product_vectors(vectors, np.ones(VOCABULARY, dtype=np.int64), parts=PARTS, seed=0)
    reference: Any = faiss.ProductQuantizer(WIDTH, PARTS, 8)
    reference.train(vectors)
    decoded = reference.decode(reference.compute_codes(vectors))
    expected = np.square(decoded - vectors).sum()
    assert squared_error(found, vectors).sum() < 1.1 * expected


def test_frequent_tokens_lose_less(vectors: npt.NDArray[np.float32]) -> None:
    frequent = np.arange(VOCABULARY) < 100
    counts = np.where(frequent, 1_000_000, 1).astype(np.int64)
    found = squared_error(product_vectors(vectors, counts, parts=PARTS, seed=0), vectors)
    even = product_vectors(vectors, np.ones(VOCABULARY, dtype=np.int64), parts=PARTS, seed=0)
    assert found[frequent].mean() < 0.7 * squared_error(even, vectors)[frequent].mean()


def test_books_are_trained_and_codes_are_not(vectors: npt.NDArray[np.float32]) -> None:
    found = product_vectors(vectors, np.ones(VOCABULARY, dtype=np.int64), parts=PARTS, seed=0)
    assert [name for name, _ in found.named_parameters()] == ["books"]
    found(torch.tensor([5])).sum().backward()
    assert found.books.grad is not None
    assert int((found.books.grad != 0).any(1).sum()) == PARTS


def test_a_small_vocabulary_has_books_too() -> None:
    vectors = np.random.default_rng(1).standard_normal((20, 8)).astype(np.float32)
    found = product_vectors(vectors, np.ones(20, dtype=np.int64), parts=2, seed=0)
    assert squared_error(found, vectors).max() < 1e-6


def test_empty_vectors_are_filled_from_a_state(vectors: npt.NDArray[np.float32]) -> None:
    found = product_vectors(vectors, np.ones(VOCABULARY, dtype=np.int64), parts=PARTS, seed=0)
    filled = ProductVectors.empty(VOCABULARY, WIDTH, PARTS)
    filled.load_state_dict(found.state_dict())
    ids = torch.tensor([1, 2, 3])
    assert torch.equal(filled(ids), found(ids))
