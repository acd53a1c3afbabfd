"""Costs and bounds as people read them."""

import pytest

from incrowd.text.units import shown, shown_bound


@pytest.mark.parametrize(
    ("bound", "cost", "words"),
    [
        (7.999999, 7.999999, "8.00"),
        (7.999999, 8.0, "7.99"),
        (7.999999, None, "7.99"),
        (1234, 1300, "1,234"),
    ],
)
def test_a_bound_is_shown_as_the_cost_or_rounded_down(
    bound: float, cost: float | None, words: str
) -> None:
    """Tests that a bound never reads as more than it is, nor as less than the cost it equals."""
    assert shown_bound(bound, cost) == words
    assert cost is None or bound != cost or shown(cost) == words
