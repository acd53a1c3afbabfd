"""Random numbers in kernels: ``rng`` is one uint64 of state (splitmix64, Steele et al. 2014)."""

from typing import Any

import numpy as np

from incrowd.kernels.jit import inner_kernel


@inner_kernel
def draw(rng: Any) -> float:
    """Uniform in [0, 1)."""
    rng[0] += np.uint64(0x9E3779B97F4A7C15)
    z = rng[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@inner_kernel
def below(rng: Any, n: int) -> int:
    """Uniform in 0..n−1."""
    return min(int(draw(rng) * n), n - 1)


@inner_kernel
def least_gain(heat: float, rng: Any) -> float:
    """Draw the gain from which on Metropolis' rule takes a move: a loss with chance e^(−loss/heat).

    Drawn before a move is worked out, it tells how soon to give the move up.
    """
    return heat * np.log(draw(rng) + 1e-300)
