"""The training loop."""

from __future__ import annotations

import io
import json
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from service.errors import InputError
from tests.training.made import make_corpus, make_tokens
from training.checkpoints import BEST_FILE, LAST_FILE, load_checkpoint, save_checkpoint
from training.data.batches import PairBatch, PairBatches, Sentences
from training.data.mixing import Mixing, make_buckets
from training.encoders.static import StaticEncoder, random_table
from training.loop import Loop, LoopOptions, Phase
from training.metrics import read_metrics
from training.objectives.ranking import InBatchRanking
from training.optimisers import RowAdam
from training.progress import Progress
from training.schedules import LinearDecay
from training.system import DualEncoder, Weighted

CPU = torch.device("cpu")
OPTIONS = LoopOptions(steps=12, log_every=1)


class _Developed:
    """What development says, by a function of the test."""

    def __init__(self, measure: Callable[[], Mapping[str, float]]) -> None:
        self._measure = measure
        self.measured = ("error",)

    def __call__(self) -> Mapping[str, float]:
        return self._measure()


def make_phase(
    options: LoopOptions = OPTIONS, develop: Callable[[], Mapping[str, float]] | None = None
) -> Phase[PairBatch]:
    corpus = make_corpus({"de": 60, "fr": 20})
    encoder = StaticEncoder(random_table(50, 16, seed=0))
    return Phase(
        system=DualEncoder(encoder, {"ranking": Weighted(InBatchRanking(temperature=0.1))}),
        batches=PairBatches(
            corpus, make_tokens(corpus), make_buckets(corpus, Mixing()), size=16, longest=9, seed=3
        ),
        optimisers=(RowAdam(encoder.parameters(), lr=0.05),),
        schedule=LinearDecay(12),
        options=options,
        develop=None if develop is None else _Developed(develop),
    )


def _losses(directory: Path) -> list[float]:
    rows = read_metrics(directory / "metrics.jsonl")
    return [row["loss"] for row in rows if "loss" in row]


def _developed(directory: Path) -> list[float]:
    return [row["step"] for row in read_metrics(directory / "metrics.jsonl", "dev")]


def _nothing() -> dict[str, float]:
    """Development that measures nothing."""
    return {}


def test_the_loss_falls_and_everything_is_logged(tmp_path: Path) -> None:
    outcome = Loop(make_phase(), tmp_path, device=CPU).run()
    losses = _losses(tmp_path)
    assert len(losses) == 12
    assert losses[-1] < losses[0]
    assert outcome.steps == 12
    assert outcome.words > 0
    assert list((tmp_path / "tensorboard").iterdir())
    last = json.loads((tmp_path / "metrics.jsonl").read_text().splitlines()[-1])
    assert {"step", "loss", "ranking", "words", "words_per_second", "rate"} <= last.keys()


def _break_in_step(phase: Phase[PairBatch], step: int, how: Callable[[], object]) -> None:
    """Have `how` happen in the middle of a step."""
    steps = iter(range(100))

    def hook(*_: object) -> None:
        if next(steps) == step:
            how()

    phase.system.register_forward_pre_hook(hook)


def _pull_the_plug() -> None:
    raise OSError("gone")


@pytest.mark.parametrize(
    ("how", "raised", "logged"),
    [
        (_pull_the_plug, OSError, 5),
        (lambda: signal.raise_signal(signal.SIGINT), KeyboardInterrupt, 6),
    ],
)
def test_a_run_that_was_broken_off_gives_the_same_losses(
    tmp_path: Path, how: Callable[[], object], raised: type[BaseException], logged: int
) -> None:
    options = replace(OPTIONS, develop_every=5)
    Loop(make_phase(options, _nothing), tmp_path / "whole", device=CPU).run()
    phase = make_phase(replace(options, checkpoint_seconds=0.0), _nothing)
    _break_in_step(phase, 5, how)
    with pytest.raises(raised):
        Loop(phase, tmp_path / "parts", device=CPU).run()
    assert len(_losses(tmp_path / "parts")) == logged
    torch.manual_seed(99)  # another process has other random numbers
    Loop(make_phase(options, _nothing), tmp_path / "parts", device=CPU).run()
    assert _losses(tmp_path / "parts") == _losses(tmp_path / "whole")
    assert _developed(tmp_path / "parts") == [5, 10, 12]


def test_a_line_of_the_log_is_the_mean_of_the_same_steps_after_a_break(tmp_path: Path) -> None:
    options = replace(OPTIONS, log_every=4)
    Loop(make_phase(options), tmp_path / "whole", device=CPU).run()
    phase = make_phase(replace(options, checkpoint_seconds=0.0))
    _break_in_step(phase, 6, _pull_the_plug)
    with pytest.raises(OSError, match="gone"):
        Loop(phase, tmp_path / "parts", device=CPU).run()
    Loop(make_phase(options), tmp_path / "parts", device=CPU).run()
    assert _losses(tmp_path / "parts") == _losses(tmp_path / "whole")
    assert len(_losses(tmp_path / "whole")) == 3


def test_a_checkpoint_without_sums_is_gone_on_from(tmp_path: Path) -> None:
    Loop(make_phase(replace(OPTIONS, steps=6)), tmp_path, device=CPU).run()
    content = load_checkpoint(tmp_path / LAST_FILE)
    assert content is not None
    del content["sums"]
    save_checkpoint(tmp_path / LAST_FILE, content)
    assert Loop(make_phase(), tmp_path, device=CPU).run().steps == 12


def test_a_finished_run_is_not_trained_again(tmp_path: Path) -> None:
    Loop(make_phase(), tmp_path, device=CPU).run()
    before = _losses(tmp_path)
    assert Loop(make_phase(), tmp_path, device=CPU).run().steps == 12
    assert _losses(tmp_path) == before


def test_it_stops_when_development_gets_no_better_and_keeps_the_best(tmp_path: Path) -> None:
    figures = iter([3.0, 3.5, 2.0, 2.5, 2.5, 1.0])
    options = LoopOptions(
        steps=12, develop_every=2, watch="error", better="lower", patience=2, log_every=2
    )
    phase = make_phase(options, lambda: {"error": next(figures)})
    outcome = Loop(phase, tmp_path, device=CPU).run()
    assert outcome.stopped_early
    assert outcome.steps == 10, "two rounds after the best, not two in all"
    best = torch.load(tmp_path / BEST_FILE, weights_only=True)["system"]["encoder.table"]
    last = torch.load(tmp_path / LAST_FILE, weights_only=True)["system"]["encoder.table"]
    assert not torch.equal(best, last)
    rows = read_metrics(tmp_path / "metrics.jsonl", "dev")
    assert [row["error"] for row in rows] == [3.0, 3.5, 2.0, 2.5, 2.5]


@pytest.mark.parametrize(
    ("patience", "built_on", "steps"),
    [(None, False, 12), (3, False, 8), (2, False, 6), (3, True, 6)],
)
def test_a_stop_counts_for_the_patience_that_is_asked_for(
    tmp_path: Path, patience: int | None, built_on: bool, steps: int
) -> None:
    watched = replace(OPTIONS, develop_every=2, watch="error", better="lower")
    stopped = Loop(
        make_phase(replace(watched, patience=2), lambda: {"error": 1.0}), tmp_path, device=CPU
    ).run()
    assert (stopped.steps, stopped.stopped_early) == (6, True)
    said = io.StringIO()
    outcome = Loop(
        make_phase(replace(watched, patience=patience), lambda: {"error": 1.0}),
        tmp_path,
        device=CPU,
        progress=Progress(said),
        built_on=built_on,
    ).run()
    assert (outcome.steps, outcome.stopped_early) == (steps, steps < 12)
    assert ("stopped early after step 6" in said.getvalue()) == (steps == 6)
    assert ("going on" in said.getvalue()) == (steps > 6)


def test_who_goes_on_without_patience_keeps_the_last_weights(tmp_path: Path) -> None:
    options = replace(OPTIONS, develop_every=2, watch="error", better="lower", patience=9)
    phase = make_phase(replace(options, checkpoint_seconds=0.0), lambda: {"error": 1.0})
    _break_in_step(phase, 5, _pull_the_plug)
    with pytest.raises(OSError, match="gone"):
        Loop(phase, tmp_path, device=CPU).run()
    assert (tmp_path / BEST_FILE).exists()
    Loop(make_phase(replace(OPTIONS, develop_every=2), _nothing), tmp_path, device=CPU).run()
    assert not (tmp_path / BEST_FILE).exists()


@pytest.mark.parametrize(
    ("every", "steps"), [(5, [5, 10, 12]), (6, [6, 12]), (12, [12]), (20, [12]), (0, [])]
)
def test_it_develops_every_so_often_and_once_at_the_end(
    tmp_path: Path, every: int, steps: list[int]
) -> None:
    phase = make_phase(replace(OPTIONS, develop_every=every), _nothing)
    Loop(phase, tmp_path, device=CPU).run()
    assert _developed(tmp_path) == steps


def test_the_last_weights_are_kept_where_they_are_the_best(tmp_path: Path) -> None:
    figures = iter([3.0, 2.0])
    options = replace(OPTIONS, develop_every=8, watch="error", better="lower")
    phase = make_phase(options, lambda: {"error": next(figures)})
    Loop(phase, tmp_path, device=CPU).run()
    best = torch.load(tmp_path / BEST_FILE, weights_only=True)["system"]["encoder.table"]
    last = torch.load(tmp_path / LAST_FILE, weights_only=True)["system"]["encoder.table"]
    assert torch.equal(best, last)


def test_a_figure_that_is_watched_and_not_measured_is_named(tmp_path: Path) -> None:
    options = replace(OPTIONS, develop_every=12, watch="search_error")
    phase = make_phase(options, lambda: {"perplexity": 9.0})
    with pytest.raises(InputError, match=r"by search_error .* is perplexity") as raised:
        Loop(phase, tmp_path, device=CPU).run()
    assert "held_out_source" in str(raised.value.remedy)


def test_a_loss_that_is_no_number_stops_the_run(tmp_path: Path) -> None:
    phase = make_phase()
    with torch.no_grad():
        next(phase.system.parameters()).fill_(float("nan"))
    with pytest.raises(InputError, match="Lower the learning rate"):
        Loop(phase, tmp_path, device=CPU).run()


class _DenseEncoder(torch.nn.Module):
    """Sums of token vectors whose gradient is not sparse: norms are of dense ones."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(random_table(50, 16, seed=0))

    def forward(self, sentences: Sentences) -> Tensor:
        return functional.embedding_bag(sentences.ids, self.table, sentences.offsets, mode="sum")


def test_the_gradient_is_clipped_to_its_norm(tmp_path: Path) -> None:
    norms = []
    for clip in (None, 1e-3):
        phase = make_phase(replace(OPTIONS, steps=1, clip=clip))
        encoder = _DenseEncoder()
        system = DualEncoder(encoder, {"ranking": Weighted(InBatchRanking(temperature=0.1))})
        optimiser = torch.optim.SGD(encoder.parameters(), lr=1.0)
        phase = replace(phase, system=system, optimisers=(optimiser,))
        Loop(phase, tmp_path / str(clip), device=CPU).run()
        assert encoder.table.grad is not None
        norms.append(float(encoder.table.grad.norm()))
    assert norms[0] > 1e-2
    assert norms[1] == pytest.approx(1e-3, rel=1e-3)


def test_bf16_products_and_float32_weights(tmp_path: Path) -> None:
    seen: list[bool] = []
    phase = make_phase(replace(OPTIONS, precision="bf16"))
    phase.system.register_forward_pre_hook(lambda *_: seen.append(torch.is_autocast_enabled("cpu")))
    Loop(phase, tmp_path, device=CPU).run()
    assert all(seen)
    assert all(weight.dtype == torch.float32 for weight in phase.system.parameters())
    losses = _losses(tmp_path)
    assert losses[-1] < losses[0]
