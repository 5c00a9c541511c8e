"""Token vectors in parts: what is kept of each part is its nearest entry in a book of 256.

Product quantisation (Jégou et al. 2011, Product quantization for nearest neighbor search, section
2.2): a vector of D numbers costs a byte for each of its parts, a quarter of a byte a number where
parts have four. It is for vectors that are read by layers, which see past what is lost; the books
can be trained on with them.
"""

from __future__ import annotations

import faiss
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

ENTRIES = 256
"""Of a part's book, as many as a byte tells apart."""

_DRAWN = 200_000  # rows that the books are fitted on
_ROUNDS = 10  # of k-means
_RARE = 3  # added to each count


class ProductVectors(nn.Module):
    """Vectors [V, D] as V rows of P codes and P books of entries [256, D / P].

    Args:
        codes: uint8 [V, P].
        books: float32 [P * 256, D / P], book after book.
    """

    def __init__(self, codes: Tensor, books: Tensor) -> None:
        super().__init__()
        self.codes: Tensor
        self.offsets: Tensor
        self.register_buffer("codes", codes)
        self.register_buffer("offsets", torch.arange(codes.shape[1]) * ENTRIES)
        self.books = nn.Parameter(books)

    @classmethod
    def empty(cls, vocabulary: int, dimension: int, parts: int) -> ProductVectors:
        """Return vectors of these sizes, to be filled."""
        codes = torch.zeros(vocabulary, parts, dtype=torch.uint8)
        return cls(codes, torch.zeros(parts * ENTRIES, dimension // parts))

    def forward(self, ids: Tensor) -> Tensor:
        """Return vectors [..., D] of ids int64 [...]."""
        entries = self.codes[ids].long() + self.offsets  # [..., P]
        return functional.embedding(entries, self.books).flatten(-2)


def product_vectors(
    vectors: npt.NDArray[np.float32], occurrences: npt.NDArray[np.int64], *, parts: int, seed: int
) -> ProductVectors:
    """Return `vectors` in parts, the books fitted where frequent tokens lie more than others.

    Args:
        vectors: [V, D].
        occurrences: int64 [V]; a token counts as often as the root of that in the books' fit.
        parts: How many, a divisor of D.
        seed: Of what the books are fitted on.
    """
    if len(vectors) > ENTRIES:
        drawn = np.random.default_rng(seed).choice(len(vectors), _DRAWN, p=_shares(occurrences))
    else:
        drawn = np.arange(ENTRIES) % len(vectors)  # each may have an entry of its own
    quantizer = faiss.ProductQuantizer(vectors.shape[1], parts, 8)
    quantizer.cp.niter = _ROUNDS
    quantizer.cp.min_points_per_centroid = 1
    quantizer.cp.max_points_per_centroid = _DRAWN // ENTRIES + 1
    quantizer.cp.seed = seed
    rows = np.ascontiguousarray(vectors)
    quantizer.train(rows[drawn])
    books = faiss.vector_to_array(quantizer.centroids).reshape(parts * ENTRIES, -1)
    return ProductVectors(
        torch.from_numpy(quantizer.compute_codes(rows)), torch.from_numpy(books.copy())
    )


def _shares(occurrences: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    roots = np.sqrt(occurrences + _RARE)
    shares: npt.NDArray[np.float64] = roots / roots.sum()
    return shares
