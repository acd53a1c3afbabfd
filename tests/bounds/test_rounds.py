"""Tests of the rounds that raise prices: how wide their boxes are, and how far they come."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from dial import few
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import PriceBound, certify
from incrowd.bounds.rounds import ascend, no_report, no_stop
from incrowd.bounds.support import support_prices
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance
from solvers.engine.engine_samples import random_table, supported


def best_prices(instance: Instance, k: int) -> float:
    """The value of the linear program, by cutting planes: any k copies pay a pattern at most."""
    patterns = supported(instance, k)
    rows, most = [np.zeros(instance.distinct)], [1.0]
    top = float(k * max(patterns.values()))
    while True:
        found = linprog(-instance.counts, np.array(rows), most, bounds=(0, top), method="highs")
        cuts = len(rows)
        for members, cost in patterns.items():
            row, left = np.zeros(instance.distinct), k
            for r in sorted(members, key=lambda r: -found.x[r]):
                row[r] = min(left, instance.counts[r])
                left -= row[r]
            if row @ found.x > k * cost + 1e-6 * top:
                rows.append(row)
                most.append(float(k * cost))
        if len(rows) == cuts:
            return -float(found.fun)


@pytest.mark.parametrize("k", [5, 12])
def test_small_tables_with_hierarchies_have_the_best_prices(k: int) -> None:
    """Tests the bound against the program's value, which is far above what support proves."""
    for seed in range(few(4, 2)):
        instance = random_table(np.random.default_rng(seed), "trees", (40, 41), (4, 5))
        tree = PrefixTree(instance)
        start, _ = support_prices(tree, k)
        prices = certify(tree, k, PriceBound.suited(instance).ascend(tree, k, start.astype(float)))
        proven = float(prices.price @ instance.counts) / prices.quantum
        value = best_prices(instance, k)
        assert start @ instance.counts < 0.97 * value
        assert 0.995 * value < proven < value * (1 + 1e-6)


class Rising:
    """Boxes in which each ascent ends at the next of some bounds; notes their widths."""

    def __init__(self, bounds: list[float]) -> None:
        self.bounds, self.widths = iter(bounds), list[float]()

    def unit(self, u: NDArray[np.float64]) -> float:
        """Return the unit of widths."""
        return 1.0

    def moved(self, way: NDArray[np.float64], width: float) -> None:
        """Stay."""

    def walked(self) -> float:
        """No list is long here."""
        return 0.0

    def listed(
        self, u: NDArray[np.float64], width: float, sink: Emission
    ) -> tuple[float, int] | None:
        """Note the width."""
        self.widths.append(width)
        return width, 0

    def ascent(self, lists: Emission, patterns: int, rounds: int) -> Any:
        """Return what ends at the next bound."""
        return self

    def run(self, u: NDArray[np.float64], *others: Any) -> tuple[float, NDArray[np.float64]]:
        """End there."""
        return next(self.bounds), u


@pytest.mark.parametrize(
    ("again", "widths"), [(0, [8, 4, 2, 1]), (1, [8, 4, 4, 2, 1]), (9, [8, 4, 4, 4, 2, 1])]
)
def test_a_box_stays_wide_while_a_round_pays(again: int, widths: list[float]) -> None:
    """Tests that only a round that brought little makes the next box smaller, up to a limit.

    The first round has nothing to compare with.
    """
    boxes = Rising([100.0, 120.0, 140.0, 140.1, 140.1, 140.2])
    plan = PriceBound(rounds=4, margin=(8.0, 1.0), worth=0.01, again=again, pairs=1, patterns=1)
    ascend(plan, boxes, np.zeros(1), no_stop, no_report)
    assert boxes.widths == pytest.approx(widths)
