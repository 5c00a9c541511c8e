"""How fast the training loop is, in words a second of every recipe at scale `small`.

Beside it stands the same model written with torch's own modules (`plain_models.py`) and fed
fixed-size batches of random lengths.

    python -m benchmarks.training_speed [--recipe NAME ...] [--seconds 2] [--blocks 5]

The recipe goes its whole way: corpus, vocabulary, tokens, batches, loop, on a folder of made-up
words. Blocks of the loop and of the plain model take turns within one process, so that a busy
machine slows both; the ratio is the median over pairs of neighbouring blocks.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks import plain_models as plain
from benchmarks.arguments import above_zero, whole_number
from benchmarks.made_up_text import SOURCE, write_made_up_text
from training.data.batches import Batch, BatchSource, State
from training.devices import describe_machine
from training.loop import Loop
from training.progress import Progress
from training.run import Run, open_run
from training.tables import format_table

LANGUAGES = ("en", "de", "fr", "es", "it", "pt")
ROWS = 12_000
HELD_OUT = 11_900
TEXT = (f"sources={SOURCE}", f"held_out_source={SOURCE}", f"held_out_first={HELD_OUT}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is compared for a recipe.

    Attributes:
        system: What it is called; what is left out of it is said there.
        changes: `key=value`, besides the text.
        model: (parameters, ids) -> the same in torch's own modules.
    """

    system: str
    changes: tuple[str, ...]
    model: Callable[[Any, int], plain.Plain]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", action="append", choices=sorted(CASES))
    parser.add_argument("--seconds", type=above_zero, default=2.0, help="of a block")
    parser.add_argument("--blocks", type=whole_number, default=5)
    options = parser.parse_args()
    print(f"machine: {describe_machine()}", flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "data"
        write_made_up_text(folder, LANGUAGES, rows=ROWS)
        for name in options.recipe or sorted(CASES):
            case = CASES[name]
            run = open_run(
                name, "small", Path(temporary) / name, data=folder, assignments=TEXT + case.changes
            )
            ours, theirs, ratio = compare(run, case, options.seconds, options.blocks)
            rows.append([name, case.system, f"{ours:,.0f}", f"{theirs:,.0f}", f"{ratio:.2f}"])
            print(f"{name}: {ratio:.2f}", flush=True)
    header = ["recipe", "system", "loop, words/s", "plain torch, words/s", "ratio"]
    print(format_table(header, rows, text=(1,)))


def compare(run: Run, case: Case, seconds: float, blocks: int) -> tuple[float, float, float]:
    """Return words a second of the loop and of the plain model, and the median of their ratio."""
    torch.manual_seed(0)
    phase = run.recipe.stages[0].build(run.parameters, run.work)
    counted = CountedBatches(phase.batches)
    # Alone here is what takes no part in a step left out: development, which both would need.
    options = dataclasses.replace(phase.options, steps=1_000_000, develop_every=0)
    phase = dataclasses.replace(phase, batches=counted, options=options)
    turns = Turns(counted, case, run.parameters, seconds=seconds, blocks=blocks)
    with suppress(_Done):
        Loop(phase, run.work.stage("speed"), device=run.work.device, progress=turns).run()
    pairs = turns.pairs[1:]  # the first is the warm-up
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    ours, theirs = (statistics.median(speeds) for speeds in zip(*pairs, strict=True))
    return ours, theirs, ratio


class _Done(Exception):
    """Enough is measured."""


@dataclass(slots=True)
class CountedBatches:
    """Batches, and how much was drawn."""

    source: BatchSource[Batch]
    words: int = 0
    lengths: list[Tensor] = field(default_factory=list)

    def draw(self) -> Batch:
        """Return the next batch."""
        batch = self.source.draw()
        lengths = lengths_of(batch)
        self.words += int(lengths.sum())
        if len(self.lengths) < 50:
            self.lengths.append(lengths)
        return batch

    def state_dict(self) -> State:
        """Return the source's."""
        return self.source.state_dict()

    def load_state_dict(self, state: State) -> None:
        """Give it back."""
        self.source.load_state_dict(state)


class Turns(Progress):
    """Takes the place of the progress bar: after each block of the loop runs one of the other."""

    def __init__(
        self,
        counted: CountedBatches,
        case: Case,
        parameters: Any,  # noqa: ANN401 - each recipe has its own
        *,
        seconds: float,
        blocks: int,
    ) -> None:
        super().__init__()
        self.pairs: list[tuple[float, float]] = []
        self._counted = counted
        self._case = case
        self._parameters = parameters
        self._seconds = seconds
        self._blocks = blocks
        self._plain: plain.Plain | None = None
        self._random = np.random.default_rng(0)
        self._begun, self._words = time.perf_counter(), 0

    def count(self, done: int, total: int, unit: str, detail: str = "") -> None:  # noqa: ARG002
        """Called after each step of the loop."""
        elapsed = time.perf_counter() - self._begun
        if unit != "steps" or elapsed < self._seconds:
            return
        ours = (self._counted.words - self._words) / elapsed
        self.pairs.append((ours, self._plain_block()))
        if len(self.pairs) > self._blocks:
            raise _Done
        self._begun, self._words = time.perf_counter(), self._counted.words

    def _plain_block(self) -> float:
        if self._plain is None:
            self._plain = self._case.model(self._parameters, _vocabulary(self._parameters))
            self._plain.model.train()
        begun, words = time.perf_counter(), 0
        while time.perf_counter() - begun < self._seconds:
            sides = self._draw(self._plain)
            self._plain.step(sides)
            words += sum(int(((s if s.ndim == 2 else s[..., 0]) > 0).sum()) for s in sides)
        return words / (time.perf_counter() - begun)

    def _draw(self, model: plain.Plain) -> list[Tensor]:
        """Return padded random ids [B, S] of each side, as many sentences as the loop has."""
        kept = self._counted.lengths
        known = np.concatenate([part.numpy() for part in kept])
        size = max(2, round(len(known) / len(kept) / model.sides))
        sides = []
        for _ in range(model.sides):
            lengths = np.maximum(1, self._random.choice(known, size))
            mask = np.arange(lengths.max()) < lengths[:, None]
            ids = self._random.integers(2, _vocabulary(self._parameters), mask.shape) * mask
            if model.ngrams:
                buckets = self._parameters.ngram_buckets
                grams = self._random.integers(1, buckets, (*mask.shape, model.ngrams))
                ids = np.concatenate([ids[:, :, None], grams * mask[:, :, None]], 2)
            sides.append(torch.from_numpy(ids))
        return sides


def lengths_of(batch: Batch) -> Tensor:
    """Return the tokens of every sentence of a batch, of whichever kind it is.

    A sentence that is encoded and also written, as where languages translate both ways, counts
    once: so does it for the plain model, which has it once.
    """
    sides: dict[str, object] = {}
    for name in batch.__dataclass_fields__:  # type: ignore[attr-defined]
        value = getattr(batch, name)
        sides |= value if isinstance(value, Mapping) else {name: value}
    return torch.cat([side.lengths for side in sides.values() if hasattr(side, "lengths")])


def _vocabulary(parameters: Any) -> int:  # noqa: ANN401 - each recipe has its own
    for name in ("words", "pieces", "vocabulary"):
        if isinstance(size := getattr(parameters, name, None), int):
            return size
    return 20_000


def _bicvm(p: Any, ids: int) -> plain.Plain:  # noqa: ANN401
    model = plain.Hinge(ids, p.dimension, p.noise, p.margin)
    return plain.Plain(
        model=model, optimiser=torch.optim.Adagrad(model.parameters(), lr=p.rate), sides=3
    )


def _chidambaram(p: Any, ids: int) -> plain.Plain:  # noqa: ANN401
    embedding = plain.WordsWithNgrams(ids, 1 + p.ngram_buckets, p.embedding, p.width)
    layer = nn.TransformerEncoderLayer(
        p.width, p.heads, p.filter, p.dropout, batch_first=True, norm_first=False
    )
    model = plain.Ranking(plain.Mean(plain.TransformerSentences(embedding, layer, p.layers)), None)
    return plain.Plain(
        model=model, optimiser=torch.optim.SGD(model.parameters(), lr=p.rate), sides=2, ngrams=10
    )


def _fast(p: Any, ids: int) -> plain.Plain:  # noqa: ANN401
    # padding_idx keeps pads out of the mean.
    bag = nn.EmbeddingBag(ids, p.dimension, mode="mean", padding_idx=0, sparse=True)
    model = plain.Ranking(bag, p.ranking_temperature)
    optimiser = torch.optim.SparseAdam(list(model.parameters()), lr=p.rate)
    return plain.Plain(model=model, optimiser=optimiser, sides=2)


def _laser(p: Any, ids: int) -> plain.Plain:  # noqa: ANN401
    lstm = nn.LSTM(p.embedding, p.width // 2, p.layers, batch_first=True, bidirectional=True)
    encoder = plain.RecurrentEncoder(ids, p.embedding, [lstm], dropout=p.dropout)
    # LASER's decoder drops nothing of the sentence vector that each step is given; this one would.
    decoder = plain.RecurrentDecoder(ids, p.embedding, p.width, p.decoder_width, dropout=0.0)
    model = plain.VectorTranslation(encoder, plain.masked_max, [decoder])
    return plain.Plain(model=model, optimiser=_adam(model, p), sides=2)


def _ntdv(p: Any, ids: int) -> plain.Plain:  # noqa: ANN401
    model = plain.AttentionGru(ids, p.embedding, p.width)
    return plain.Plain(model=model, optimiser=_adam(model, p), sides=2, clip=p.clip)


def _tmde(p: Any, ids: int) -> plain.Plain:  # noqa: ANN401
    sizes = (p.width, p.heads, p.inner, p.dropout)
    layer = nn.TransformerEncoderLayer(*sizes, batch_first=True, norm_first=True)
    encoder = plain.TransformerSentences(nn.Embedding(ids, p.width), layer, p.layers)
    decoder = nn.TransformerDecoderLayer(*sizes, batch_first=True, norm_first=True)
    model = plain.TransformerTranslation(encoder, ids, decoder, p.width)
    return plain.Plain(model=model, optimiser=torch.optim.AdamW(model.parameters()), sides=2)


def _schwenk(p: Any, ids: int) -> plain.Plain:  # noqa: ANN401
    lstm = nn.LSTM(p.embedding, p.width, p.layers, batch_first=True, bidirectional=True)
    encoder = plain.RecurrentEncoder(ids, p.embedding, [lstm], dropout=p.dropout)
    targets = len(p.languages) - 1
    decoders: list[nn.Module] = [
        plain.RecurrentDecoder(ids, p.embedding, 2 * p.width, p.decoder_width, dropout=p.dropout)
        for _ in range(targets)
    ]
    model = plain.VectorTranslation(encoder, plain.masked_max, decoders)
    return plain.Plain(model=model, optimiser=_adam(model, p), sides=1 + targets, clip=p.clip)


def _yu(p: Any, ids: int) -> plain.Plain:  # noqa: ANN401
    layers: list[nn.RNNBase] = [
        nn.LSTM(p.embedding, p.width, batch_first=True, bidirectional=True),
        nn.LSTM(2 * p.width, p.dimension, batch_first=True),
    ]
    encoder = plain.RecurrentEncoder(ids, p.embedding, layers, dropout=p.dropout)
    decoder = plain.RecurrentDecoder(
        ids, p.embedding, p.dimension, p.decoder_width, dropout=p.dropout
    )
    model = plain.BothWays(encoder, decoder, p.similarity)
    return plain.Plain(model=model, optimiser=_adam(model, p), sides=2, clip=p.clip)


def _adam(model: nn.Module, p: Any) -> torch.optim.Adam:  # noqa: ANN401
    return torch.optim.Adam(model.parameters(), lr=p.rate)


_FAST = f"languages={','.join(LANGUAGES)}", "distillation=0", "pieces=16000"
_RANKING = "tasks=translation", "negatives=5"

CASES = {
    "bicvm": Case(system="BiCVM", changes=(), model=_bicvm),
    "chidambaram": Case(system="translation ranking", changes=_RANKING, model=_chidambaram),
    "fast": Case(system="without the teacher", changes=(*_FAST, "nested=0"), model=_fast),
    "li-laser": Case(system="LASER_1", changes=("beta=0",), model=_laser),
    "li-ntdv": Case(system="translation model", changes=(), model=_ntdv),
    "li-tmde": Case(system="T-MDE", changes=("pyramid=false", "beta=0"), model=_tmde),
    "schwenk": Case(system="BLSTM 1:N", changes=("strategy=1:N",), model=_schwenk),
    "yu": Case(system="mean + similarity", changes=(), model=_yu),
}


if __name__ == "__main__":
    main()
