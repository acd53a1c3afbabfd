"""What earlier tries of patterns promise."""

import numpy as np
import pytest

from incrowd.solvers.engine.branching.tree import CLOSED, OPEN, Experience


def test_rises_are_means_per_unit_and_others_promise_the_usual() -> None:
    """Tests patterns tried twice, once and never, and sides apart."""
    experience, every = Experience(3), np.arange(3)
    share = np.array([0.5, 0.25, 1.0])
    assert experience.expected(OPEN, every, share) == pytest.approx(share)  # nothing is known
    experience.note(CLOSED, 0, 1.0, 0.5)
    experience.note(CLOSED, 0, 2.0, 0.5)
    experience.note(CLOSED, 1, 0.0, 0.5)
    assert experience.expected(CLOSED, every, share) == pytest.approx([1.5, 0.0, 2.0])
    assert experience.expected(OPEN, every, share) == pytest.approx(share)
    assert experience.expected(CLOSED, np.array([1, 0]), share[:2]) == pytest.approx([0.0, 0.75])


def test_shares_that_hardly_change_promise_no_wonders() -> None:
    """Tests a division by next to nothing."""
    experience = Experience(1)
    experience.note(OPEN, 0, 1.0, 0.0)
    assert experience.expected(OPEN, np.array([0]), np.array([1.0]))[0] == pytest.approx(1000.0)
