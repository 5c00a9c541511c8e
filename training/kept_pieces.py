"""Those pieces of a large vocabulary that the languages at hand use most.

XLM-R's 250,000 pieces are for a hundred languages. A piece that is left out is cut into smaller
ones that are kept; their vectors and their odds are the large vocabulary's.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as proto

from training.data.corpus import Corpus
from training.progress import QUIET, Progress
from training.vocabulary import PADDING_ID, UNKNOWN_ID

_COUNTED = 30_000  # sentences of a language
_NORMALISATION = "nmt_nfkc"  # XLM-R's
_PAD, _UNKNOWN = "<pad>", "<unk>"
Scores = npt.NDArray[np.float32]


def keep_pieces(
    pieces: Sequence[str],
    scores: Scores,
    corpus: Corpus,
    *,
    count: int,
    weights: Mapping[str, float],
    seed: int,
    progress: Progress = QUIET,
) -> bytes:
    """Return a SentencePiece model of `count` pieces at most: pad, unknown, and the most used.

    Every single character that occurs is kept, so that what is left out can be spelt. Languages
    weigh alike, whatever they have of text.

    Args:
        pieces: Of the large vocabulary, without pad and unknown.
        scores: float32 [pieces], logarithms of how likely each is.
        corpus: Whose sentences are cut into them.
        count: How many are kept.
        weights: Of a language in the counts; 1 if none.
        seed: Of which sentences are counted.
        progress: Told which languages are counted.
    """
    reader = sentencepiece.SentencePieceProcessor(model_proto=unigram_model(pieces, scores))
    random = np.random.default_rng(seed)
    shares = np.zeros(len(pieces) + 2)
    for number, language in enumerate(corpus.languages):
        sentences = random.permutation(corpus.sentences_of(language))[:_COUNTED]
        rows = reader.encode([corpus.texts[i] for i in sentences], num_threads=1)
        ids = np.fromiter((id for row in rows for id in row), dtype=np.int64)
        found = np.bincount(ids, minlength=len(shares)) / max(1, len(ids))
        shares += weights.get(language, 1.0) * found
        progress.count(number + 1, len(corpus.languages), "languages counted")
    shares = shares[2:]
    used = np.flatnonzero(shares > 0)
    longer = np.array([len(pieces[int(i)]) > 1 for i in used])
    order = used[np.lexsort((used, -shares[used], longer))][: count - 2]
    kept = order[np.lexsort((order, -shares[order]))]
    return unigram_model([pieces[int(i)] for i in kept], scores[kept])


def piece_rows(units: Sequence[str], pieces: Sequence[str], *, unknown: int) -> list[int]:
    """Return the numbers in `pieces` of `units`, those of pad and unknown being `unknown`."""
    numbers = {piece: number for number, piece in enumerate(pieces)}
    return [unknown if unit in (_PAD, _UNKNOWN) else numbers[unit] for unit in units]


def unigram_model(pieces: Sequence[str], scores: Scores) -> bytes:
    """Return a unigram model file of pad, unknown and `pieces`, normalising as XLM-R does."""
    # The normaliser's table is in every model that SentencePiece trains.
    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a"]),
        model_writer=file,
        vocab_size=4,
        hard_vocab_limit=False,
        normalization_rule_name=_NORMALISATION,
        bos_id=-1,
        eos_id=-1,
        pad_id=PADDING_ID,
        unk_id=UNKNOWN_ID,
        minloglevel=5,
    )
    model = proto.ModelProto.FromString(file.getvalue())
    del model.pieces[:]
    kinds = proto.ModelProto.SentencePiece
    model.pieces.add(piece=_PAD, score=0.0, type=kinds.CONTROL)
    model.pieces.add(piece=_UNKNOWN, score=0.0, type=kinds.UNKNOWN)
    for piece, score in zip(pieces, scores, strict=True):
        model.pieces.add(piece=piece, score=float(score), type=kinds.NORMAL)
    model.trainer_spec.vocab_size = len(model.pieces)
    content: bytes = model.SerializeToString()
    return content
