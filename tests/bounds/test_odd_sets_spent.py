"""Tests of when exactness of prices with odd sets is spent: no higher whole cost is in reach."""

import numpy as np
import pytest

from bounds.odd_set_samples import everything
from dial import few
from incrowd.bounds.odd_sets import lifted
from incrowd.bounds.odd_sets.certificate import certify_with_sets
from incrowd.bounds.odd_sets.lifted import OddSets, spent
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.support import support_prices
from incrowd.problem.instance import Instance, from_codes

ROOM = 0.6  # cells
TURNS = 60


def solved(instance: Instance, k: int) -> tuple[int, int]:
    """The bound of prices that may rise by some cells, and how many turns they took."""
    tree, counts, turns = PrefixTree(instance), instance.counts, []
    start, _ = support_prices(tree, k)
    problem = everything(instance, k), counts, k, start.astype(float), ROOM, instance.cell, 1
    found = OddSets(searches=60, near=0.0).raised(*problem, lambda n: n / TURNS, turns.append)
    prices = certify_with_sets(tree, k, found)
    assert prices is not None
    return prices.bound(counts), len(turns)


def test_same_bound_in_fewer_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests by suppression that ending early loses no whole cell, and that it does end early."""
    sooner = 0
    for seed in range(few(8)):
        rng = np.random.default_rng([seed, 5])
        instance, _ = from_codes(rng.integers(0, 4, (40, 5)) ** 2 // 2)
        bound, turns = solved(instance, 3)
        with monkeypatch.context() as context:
            context.setattr(lifted, "LOOKS", TURNS)  # no turn is the last but for time
            most, all_turns = solved(instance, 3)
        assert bound == most and turns <= all_turns
        sooner += turns < all_turns - 10
    assert sooner


def test_both_sides_of_a_whole_cost() -> None:
    """Tests that it goes on while the program's value may prove one unit more."""
    assert spent([34_342.1, 34_341.9, 34_341.8, 34_341.9, 34_342.0], 34_341.3, 1.0)
    assert not spent([34_342.1, 34_341.9, 34_342.2, 34_342.3, 34_342.0], 34_341.3, 1.0)
    assert not spent([34_341.9] * 5, 34_340.9, 1.0)
    assert not spent([34_341.9] * 4, 34_341.9, 1.0)  # too few looks
    assert not spent([100.5] * 5, 100.01, 1.0)  # a certificate may fall back to 100
    assert not spent([100.52] * 5, 100.5, 1 / 1000)  # costs in thousandths of a cell
    assert spent([100.0006] * 5, 100.0005 + 0.0004, 1 / 1000)
