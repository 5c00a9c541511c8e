"""A vocabulary in which English is written in the teacher's own WordPieces.

Layers that were trained on WordPieces understand English at once where they meet the same pieces;
where the words of a shared vocabulary are cut in other places, they have to learn it anew. So the
most frequent WordPieces stand in front of the pieces that all other languages were given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from sentencepiece import sentencepiece_model_pb2 as spm

from service.errors import InputError
from training.vocabulary import SPECIAL

_WORD = "▁"  # SentencePiece: a word begins
_GOES_ON = "##"  # WordPiece: a word goes on
_PAD, _UNKNOWN = "[PAD]", "[UNK]"


def piece_of(word: str) -> str:
    """Return the WordPiece `word` as SentencePiece writes it."""
    return word.removeprefix(_GOES_ON) if word.startswith(_GOES_ON) else _WORD + word


def choose_words(names: Sequence[str], counts: npt.NDArray[np.int64], most: int) -> dict[str, int]:
    """Return the `most` frequent WordPieces in ASCII, as pieces, with how often each occurs.

    Args:
        names: The teacher's WordPieces.
        counts: int64 [names], of each.
        most: How many.

    Raises:
        InputError: So many do not occur.
    """
    chosen: dict[str, int] = {}
    for number in np.argsort(-counts, kind="stable").tolist():
        if len(chosen) == most:
            break
        if not counts[number]:
            raise InputError(
                f"Of the teacher's words, {len(chosen):,} occur in the English text.",
                field="words",
                given=most,
                remedy="Ask for fewer words or give more English text.",
            )
        name = names[number]
        if name.isascii() and not name.startswith("["):
            chosen[piece_of(name)] = int(counts[number])
    return chosen


def put_words_first(model: bytes, words: Mapping[str, int], *, pieces: int, share: float) -> bytes:
    """Return a vocabulary of `pieces` pieces: pad, unknown, `words`, and the best of `model`.

    A unigram model gives each piece a probability, so that two are mixed by their shares. Single
    characters stay, however rare.

    Args:
        model: A SentencePiece unigram model with pad and unknown in front.
        words: Pieces and how often they occur.
        pieces: In all.
        share: Of the text that will be read, `words` makes up this part.

    Raises:
        InputError: `pieces` leaves no room for the characters of `model`.
    """
    made = spm.ModelProto.FromString(model)
    log_rest, total = math.log1p(-share), sum(words.values())
    scores = {piece: math.log(share * number / total) for piece, number in words.items()}
    rest: dict[str, float] = {}
    for old in made.pieces[SPECIAL:]:
        if old.piece in scores:
            scores[old.piece] = float(np.logaddexp(scores[old.piece], old.score + log_rest))
        else:
            rest[old.piece] = old.score + log_rest
    characters = [piece for piece in rest if len(piece) == 1]
    longer = sorted((p for p in rest if len(p) > 1), key=lambda piece: -rest[piece])
    room = pieces - SPECIAL - len(scores) - len(characters)
    if room < 0:
        raise InputError(
            f"{pieces:,} pieces do not hold {len(scores):,} words, {len(characters):,} characters.",
            field="pieces",
            given=pieces,
            remedy="Ask for more pieces, or for fewer words.",
        )
    del made.pieces[SPECIAL:]
    for piece in [*longer[:room], *characters]:
        scores[piece] = rest[piece]
    for piece, score in scores.items():
        made.pieces.add(piece=piece, score=score)
    made.trainer_spec.vocab_size = len(made.pieces)
    return bytes(made.SerializeToString())


def word_rows(pieces: Sequence[str], names: Sequence[str], words: int) -> list[int]:
    """Return which WordPiece each of the first pieces is: pad, unknown, and `words` words.

    Args:
        pieces: Of a vocabulary that `put_words_first` made.
        names: The teacher's WordPieces.
        words: How many stand in front.
    """
    where = {piece_of(name): row for row, name in enumerate(names)}
    return [names.index(_PAD), names.index(_UNKNOWN)] + [
        where[piece] for piece in pieces[SPECIAL : SPECIAL + words]
    ]
