"""Tests of rates, their intervals and the residual risk."""

import numpy as np
import pytest

from incrowd.attacks.rates import Rate, independent, residual, wilson


def test_wilson_is_the_papers():
    """Tests a textbook case: 10 of 100 give 5.5 to 17.4 %."""
    low, high = wilson(0.1, 100)
    assert (round(low, 4), round(high, 4)) == (0.0552, 0.1744)
    assert wilson(0.0, 5)[0] == 0.0
    assert wilson(1.0, 5)[1] == 1.0


def test_guesses_that_hang_together_count_as_one():
    """Tests that copies of a guess do not narrow the interval."""
    score = np.array([1, 0, 1, 0, 0, 1, 0, 0, 0, 1] * 4, float)
    alone = Rate.of(score)
    copied = Rate.of(np.repeat(score, 7), np.repeat(np.arange(40), 7))
    assert copied.rate == alone.rate
    assert (copied.low, copied.high) == pytest.approx((alone.low, alone.high), abs=0.003)
    assert independent(np.ones(12), np.repeat(np.arange(3), 4)) == 3


def test_residual_risk():
    """Tests the definition, that it is not clipped, and the ends."""
    half, tenth = Rate.of([1, 0] * 100), Rate.of([1] + [0] * 9)
    risk, low, high = residual(half, tenth)
    assert risk == pytest.approx((0.5 - 0.1) / 0.9)
    assert low < risk < high <= 1
    assert residual(tenth, half)[0] == pytest.approx((0.1 - 0.5) / 0.5)
    assert residual(Rate.of([1] * 50), Rate.of([0] * 50))[0] == 1
    assert residual(half, Rate.of([1] * 50))[0] is None
    assert residual(half, Rate.exactly(0.1, 9)) == pytest.approx(
        tuple(1 - (1 - rate) / 0.9 for rate in (half.rate, half.low, half.high))
    )


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.5), (0.7, 0.4), (0.05, 0.02), (0.02, 0.02)])
def test_intervals_hold_the_truth(p: float, q: float):
    """Tests on drawn counts that about 95 % of the intervals hold the true risk."""
    rng = np.random.default_rng(3)
    truth, held = (p - q) / (1 - q), 0
    for _ in range(400):
        _, low, high = residual(Rate.of(rng.random(200) < p), Rate.of(rng.random(300) < q))
        held += low <= truth <= high
    assert held >= 0.92 * 400


def test_no_control_is_no_certainty():
    """Tests that the risk has no lower limit where no control guess was made."""
    _, low, high = residual(Rate.of([1] * 9), Rate.of([]))
    assert (low, high) == (None, 1)
