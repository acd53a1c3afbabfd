"""Tests that rows whose classes pay far more than their prices are put together anew."""

from typing import Any

import numpy as np
import pytest

from dial import enough
from incrowd.problem.instance import Instance
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.engine.near_classes import Rehousing, beyond
from solvers.engine.engine_samples import KINDS, random_tables


def drawn(instance: Instance, k: int, rng: np.random.Generator) -> Solution:
    """A lawful release: copies in any order, k to some to a class."""
    order, classes, at, name = rng.permutation(instance.rows), np.zeros(instance.rows, int), 0, 0
    while at < instance.rows:
        size = int(rng.integers(k, 4 * k))
        if instance.rows - at - size < k:
            size = instance.rows - at
        classes[order[at : at + size]] = name
        at, name = at + size, name + 1
    return Solution.of(instance, classes)


def rehoused(best: Solution, price: np.ndarray, slack: float, k: int, **more: Any) -> Solution:
    """What comes of it, with all the time there is."""
    return Rehousing(**more).run(best, price, slack, k, 0, Stop(), lambda: False)


@pytest.mark.parametrize("kind", KINDS)
def test_the_rest_stays(kind: str) -> None:
    """Tests laws, costs, that other classes stay, and that something is gained."""
    gained = 0
    for instance, rng in random_tables(51, 60, kind, (6, 40), (1, 5)):
        k = int(rng.integers(2, 4))
        if instance.rows < k:
            continue
        best = drawn(instance, k, rng)
        price, slack = rng.random(instance.distinct) * 3, float(rng.random() * 6)
        after = rehoused(best, price, slack, k)
        chosen = np.zeros(len(best.sizes), bool)
        for name, cost in enumerate(best.class_costs):
            rows = instance.copies[best.classes == name]
            chosen[name] = k * (cost - sum(price[r] for r in rows) / len(rows)) > slack
        assert (beyond(best, price, slack, k) == chosen).all()
        assert after.cost <= best.cost and after.sizes.min() >= k
        stays = ~chosen[best.classes]
        together = best.classes[:, None] == best.classes
        assert ((after.classes[:, None] == after.classes) == together)[stays].all()
        gained += after.cost < best.cost
    assert gained > enough(10)


def test_strangers_find_one_another() -> None:
    """Tests that rows of no candidate leave the class of everything for near rows."""
    for instance, _ in random_tables(52, 10, "suppression", (40, 41), (5, 6)):
        everything = Solution.of(instance, np.zeros(instance.rows, int))
        after = rehoused(everything, np.zeros(instance.distinct), 0.0, 4)
        assert after.cost < everything.cost or everything.cost == 0
        assert rehoused(everything, np.zeros(instance.distinct), np.inf, 4) is everything
