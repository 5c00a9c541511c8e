"""Hard negatives: wrong translations that are close to the right one.

Chidambaram et al. 2018, section 2.2 (after Guo et al. 2018): "5 incorrect translations that are
semantically similar to the correct translation", by a model trained on translation ranking alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from service.errors import InputError

_SPARE = 16
"""Candidates looked at beyond those that are kept: some are translations after all."""


def mine_hard_negatives(
    pairs: npt.NDArray[np.int64],
    sentences: npt.NDArray[np.int64],
    vectors: npt.NDArray[np.float32],
    meanings: npt.NDArray[np.int64],
    *,
    count: int,
    pool: int,
    seed: int,
) -> npt.NDArray[np.int64]:
    """Return for each pair the `count` answers nearest to its own that do not translate its input.

    Departure: they are looked for among `pool` answers drawn at random, not among all, which would
    cost the square of the pairs.

    Args:
        pairs: int64 [pairs, 2], sentence numbers of input and answer.
        sentences: int64 [A], the numbers of all answers, ascending.
        vectors: float32 [A, D], of those; nearness is their dot product.
        meanings: int64 [all sentences]; sentences with the same number are the same (they differ in
            case or punctuation only).
        count: Of each pair.
        pool: Pairs whose answers are looked at together.
        seed: Of how the pairs are put together.

    Returns:
        int64 [pairs, count], sentence numbers; the nearest first. Where a pool has fewer they
        repeat; where it has none they are any wrong answers.

    Raises:
        InputError: To some input every answer is a translation.
    """
    known = np.unique(pairs[:, 0] * len(meanings) + meanings[pairs[:, 1]])
    own = np.searchsorted(sentences, pairs[:, 1])
    order = np.random.default_rng(seed).permutation(len(pairs))
    mined = np.empty((len(pairs), count), dtype=np.int64)
    shards = max(1, round(len(pairs) / pool))
    for shard in np.array_split(order, shards):
        answers = np.unique(pairs[shard, 1])
        among = vectors[np.searchsorted(sentences, answers)]
        for block in np.array_split(shard, -(-len(shard) // 512)):
            scores = vectors[own[block]] @ among.T
            nearest = _nearest(scores, count + _SPARE)
            candidates = answers[nearest]  # [block, candidates]
            codes = pairs[block, :1] * len(meanings) + meanings[candidates]
            wrong = ~np.isin(codes, known)
            for row, pair in enumerate(block):
                kept = candidates[row][wrong[row]][:count]
                if not len(kept):
                    kept = _any_wrong(pairs[pair, 0], sentences, meanings, known)[:count]
                mined[pair] = np.resize(kept, count)
    return mined


def _nearest(scores: npt.NDArray[np.float32], count: int) -> npt.NDArray[np.int64]:
    """Return the columns of the `count` greatest numbers of each row, greatest first."""
    count = min(count, scores.shape[1])
    some = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    order = np.argsort(-np.take_along_axis(scores, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)


def _any_wrong(
    sentence: np.int64,
    answers: npt.NDArray[np.int64],
    meanings: npt.NDArray[np.int64],
    known: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """Return the answers that do not translate `sentence`."""
    wrong = answers[~np.isin(sentence * len(meanings) + meanings[answers], known)]
    if not len(wrong):
        raise InputError(
            "Hard negatives cannot be mined: every answer is a translation.",
            field="negatives",
            remedy="Give more text, or set negatives=0.",
        )
    return wrong
