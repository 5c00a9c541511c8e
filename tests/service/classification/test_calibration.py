from __future__ import annotations

import numpy as np
import pytest

from service.classification.calibration import (
    calibration_bins,
    expected_calibration_error,
    fit_temperature,
    log_losses,
    probabilities,
)


def _sampled(temperature: float, multi_label: bool) -> tuple[np.ndarray, np.ndarray]:
    """Logits, and truths drawn from the probabilities that they mean at `temperature`."""
    random = np.random.default_rng(5)
    logits = (4 * random.standard_normal((4000, 4))).astype(np.float32)
    chances = probabilities(logits, temperature=temperature, multi_label=multi_label)
    if multi_label:
        return logits, (random.random(chances.shape) < chances).astype(np.int8)
    return logits, (chances.cumsum(axis=1) < random.random((4000, 1))).sum(axis=1).clip(0, 3)


@pytest.mark.parametrize("multi_label", [False, True])
@pytest.mark.parametrize("temperature", [0.5, 3.0])
def test_the_true_temperature_is_found(temperature: float, multi_label: bool) -> None:
    logits, truths = _sampled(temperature, multi_label)
    found = fit_temperature(logits, truths)
    assert found == pytest.approx(temperature, rel=0.1)
    at = [log_losses(logits, truths, temperature=t).mean() for t in (found, 1.2 * found, found / 2)]
    assert at[0] == min(at)


def test_the_calibration_error_is_small_only_at_the_true_temperature() -> None:
    logits, truths = _sampled(3.0, multi_label=False)

    def error(temperature: float) -> float:
        chances = probabilities(logits, temperature=temperature, multi_label=False)
        right = chances.argmax(axis=1) == truths
        return expected_calibration_error(calibration_bins(chances.max(axis=1), right))

    assert error(3.0) < 0.03
    assert error(1.0) > 0.15


@pytest.mark.parametrize("examples", [2, 4, 8])
def test_a_handful_of_right_answers_makes_none_certain(examples: int) -> None:
    targets = np.arange(examples) % 2
    logits = np.where(np.eye(2)[targets] > 0, 1.0, -1.0).astype(np.float32)
    temperature = fit_temperature(logits, targets)
    assert 0.2 < temperature < 1
    found = probabilities(logits, temperature=temperature, multi_label=False)
    assert 0.9 < found.max() < 0.9999


def test_bins_by_hand() -> None:
    confidence = np.array([0.92, 0.98, 0.55, 1.0], dtype=np.float32)
    bins = calibration_bins(confidence, np.array([True, False, True, True]))
    assert [part.examples for part in bins] == [1, 3]
    expected = 0.25 * 0.45 + 0.75 * abs((0.92 + 0.98 + 1) / 3 - 2 / 3)
    assert expected_calibration_error(bins) == pytest.approx(expected, abs=1e-6)
    assert expected_calibration_error(()) == 0.0
