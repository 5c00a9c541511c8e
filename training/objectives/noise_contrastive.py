r"""Noise-contrastive hinge: a translation is closer than sentences drawn at random.

Hermann & Blunsom 2013, eq. 1 and 6-7:

    E_dist(a, b)     = |a - b|^2
    E_noise(a, b, n) = [m + E_dist(a, b) - E_dist(a, n)]_+
    J                = sum over pairs (a, b) of sum over K noise sentences n of E_noise(a, b, n)

The L2 term of eq. 7 is the optimiser's (`training.optimisers.RowAdagrad`), which knows the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseContrastive:
    """The hinge, summed over pairs and their noise.

    Args:
        margin: m; eq. 6 writes 1, the experiments take 50 (section 4.1).
    """

    margin: float = 50.0

    def __call__(self, source: Tensor, target: Tensor, noise: Tensor) -> Tensor:
        """Return the sum over all pairs.

        Args:
            source: a, [B, D].
            target: b, [B, D].
            noise: n, [B, K, D].
        """
        to_target = (source - target).square().sum(1)  # [B]
        to_noise = (source[:, None] - noise).square().sum(2)  # [B, K]
        return (self.margin + to_target[:, None] - to_noise).clamp(min=0).sum()
