from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from training.whitening import partial_whitening


def sample(spreads: list[float]) -> npt.NDArray[np.float32]:
    """Return vectors whose principal directions, turned at random, have these spreads."""
    random = np.random.default_rng(4)
    turned = np.linalg.qr(random.normal(size=(len(spreads), len(spreads))))[0]
    drawn = random.normal(size=(4000, len(spreads)))
    # The sample's own directions and spreads are exactly those: nothing is left to chance.
    whole = drawn - drawn.mean(0)
    exact = np.linalg.svd(whole, full_matrices=False)[0] * np.sqrt(len(drawn) - 1)
    made: npt.NDArray[np.float32] = (exact * spreads @ turned.T + 3.0).astype(np.float32)
    return made


def spreads_of(vectors: npt.NDArray[np.float32]) -> list[float]:
    return sorted(np.sqrt(np.linalg.eigvalsh(np.cov(vectors.T))).tolist())


@pytest.mark.parametrize("power", [0.0, 0.3, 1.0])
def test_each_direction_is_divided_by_its_spread_to_the_power(power: float) -> None:
    spreads = [0.5, 1.0, 1.5, 3.0]
    vectors = sample(spreads)
    found = spreads_of(vectors @ partial_whitening(vectors, power))
    expected = np.array(spreads) ** (1 - power) * np.mean(spreads) ** power
    assert found == pytest.approx(sorted(expected), rel=1e-3)


def test_it_turns_nothing() -> None:
    vectors = sample([0.5, 1.0, 1.5, 3.0])
    found = partial_whitening(vectors, 0.3)
    np.testing.assert_allclose(found, found.T, atol=1e-6)
    assert np.linalg.eigvalsh(found).min() > 0
    np.testing.assert_allclose(partial_whitening(vectors, 0.0), np.eye(4), atol=1e-6)


def test_directions_in_which_nothing_lies_are_not_blown_up() -> None:
    vectors = sample([1.0, 1.0, 1.0])
    vectors[:, 1:] = 0
    assert np.abs(partial_whitening(vectors, 1.0)).max() <= 10.0 + 1e-3
