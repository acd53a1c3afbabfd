"""Tests of blocks put together anew: exact on whole small tables, lawful and true everywhere."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

from dial import enough
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.support import support_prices
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.engine.class_blocks import split
from incrowd.solvers.engine.near import near_rows
from incrowd.solvers.engine.repartition import Repartition
from oracle import optimum
from solvers.engine.engine_samples import KINDS, random_tables
from solvers.ranged_tables import ranged_tables

EXACT = Repartition(sweeps=3, size=60, heat=(1e-9, 1e-9), cold=1.0, dear=np.inf)


def tables(kind: str, seed: int, number: int, rows: tuple[int, int]) -> Iterator[tuple]:
    """Random tables of a kind, with an order of random choices."""
    if kind == "ranges":
        return ranged_tables(seed, number, rows)
    return random_tables(seed, number, kind, rows, (1, 6))


def any_release(instance: Instance, k: int, rng: np.random.Generator) -> Solution:
    """Some release in classes of k to 2k − 1 copies."""
    classes = np.empty(instance.rows, np.int64)
    classes[rng.permutation(instance.rows)] = np.arange(instance.rows) // k
    classes[classes >= instance.rows // k] = 0
    return split(Solution.of(instance, classes), k)


def prices(instance: Instance, k: int, priced: bool) -> np.ndarray:
    """Prices that bound every release: nothing, or those of support."""
    if not priced:
        return np.zeros(instance.distinct)
    return support_prices(PrefixTree(instance, Stop()), k, 10**6)[0].astype(np.float64)


@pytest.mark.parametrize("priced", [False, True])
@pytest.mark.parametrize("kind", [*KINDS, "ranges"])
def test_a_block_of_the_whole_table_is_optimal(kind: str, priced: bool) -> None:
    """Tests against the optimum, from releases none of whose classes is free."""
    better = 0
    for instance, rng in tables(kind, 51, 24, (4, 11)):
        k = int(rng.integers(2, 4))
        start = any_release(instance, k, rng)
        if len(start.sizes) < 2 or not start.class_costs.all():
            continue
        price = prices(instance, k, priced)
        near = near_rows(instance, 0, Stop(), price)
        found = EXACT.run(start, near, price, k, int(rng.integers(99)))
        assert found.cost == optimum(instance, KAnonymity(k))
        better += found.cost < start.cost
    assert better > enough(3)


@pytest.mark.parametrize("kind", [*KINDS, "ranges"])
def test_blocks_keep_classes_lawful_and_their_books(kind: str) -> None:
    """Tests sizes and costs, stopped or not, hot or cold; a cold one is never worse."""
    better = 0
    for instance, rng in tables(kind, 52, 22, (6, 60)):
        k = int(rng.integers(2, 6))
        if instance.rows < k:
            continue
        start = any_release(instance, k, rng)
        price = prices(instance, k, True)
        near = near_rows(instance, 0, Stop(), price)
        told: list[int] = []
        turns = iter([False, True] if rng.random() < 0.3 else [False] * 99)
        cold = float(rng.choice([0.1, 1.0]))
        search = Repartition(sweeps=6, size=int(rng.integers(6, 16)), heat=(0.5, 0.1), cold=cold)
        stop = partial(next, turns, True)
        run = partial(search.run, start, near, price, k, 7)
        found = run(None, stop, lambda cost, _, told=told: told.append(cost))
        assert found.sizes.min() >= k
        assert found.sizes.max() < 2 * k
        assert len(found.classes) == instance.rows
        assert found.cost == (told[-1] if told else start.cost)
        assert found.cost >= price @ instance.counts
        assert cold < 1 or found.cost <= start.cost
        better += found.cost < start.cost
        assert run().cost == run().cost
    assert better > enough(9)


def test_large_classes_have_no_room() -> None:
    """Tests which k blocks are for."""
    assert Repartition().suits(6)
    assert not Repartition().suits(7)
