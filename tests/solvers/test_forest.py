"""Tests of the forest on tables large enough to be cut, and with row deletion."""

import numpy as np

from dial import few
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.solvers.approx.deletion import delete_outliers
from incrowd.solvers.approx.forest import Forest, Neighbours, plant
from incrowd.solvers.base import Context
from oracle import join_cost
from solvers.small_tables import Shape, tables


def nearest_sum(instance: Instance, k: int) -> int:
    """Σ over copies of the distance to the (k−1)-st nearest other copy, by brute force."""
    total = 0
    for i in range(instance.rows):
        others = [join_cost(instance, (i, j)) for j in range(instance.rows) if i != j]
        total += sorted(others)[k - 2]
    return total


def test_neighbours_match_brute_force() -> None:
    """Tests the blockwise neighbour search with copies, trees and weights."""
    for trees in (False, True):
        for instance, rng in tables(5, 25, Shape(rows=(12, 25), trees=trees)):
            k = int(rng.integers(2, 8))
            neighbours = Neighbours.of(instance, k - 1, Context())
            assert neighbours is not None
            assert neighbours.bound(instance) == nearest_sum(instance, k)


def test_trees_are_cut_to_size() -> None:
    """Tests sizes k..max{2k−1, 3k−5}, and cost ≤ that × the forest's weight ≤ the bound."""
    rng = np.random.default_rng(2)
    for _ in range(few(150)):
        rows, columns, k = (int(x) for x in rng.integers((20, 1, 2), (200, 6, 13)))
        skewed = rng.random((rows, columns)) ** 3 * rng.integers(2, 30)
        instance, _ = from_codes(skewed.astype(int))
        neighbours = Neighbours.of(instance, k - 1, Context())
        assert neighbours is not None
        solution, weight = plant(instance, neighbours, k)
        most = max(2 * k - 1, 3 * k - 5)
        assert (solution.sizes >= k).all()
        assert (solution.sizes[solution.class_costs > 0] <= most).all()
        assert solution.cost <= most * weight
        assert weight <= neighbours.bound(instance)


def optimum_with_deletion(instance: Instance, k: int) -> int:
    """Least cost when any rows may be suppressed whole instead of hidden in a class."""
    n = instance.rows
    worst = [
        sum(
            int(t.cost[-1, instance.codes[instance.copies[i], j]])
            for j, t in enumerate(instance.trees)
        )
        for i in range(n)
    ]
    best = [0] * (1 << n)
    for mask in range(1, 1 << n):
        first = (mask & -mask).bit_length() - 1
        rest = mask ^ (1 << first)
        least = best[rest] + worst[first]
        part = rest
        while True:
            group = tuple(i for i in range(n) if (part | 1 << first) >> i & 1)
            if k <= len(group) < 2 * k:
                cost = len(group) * join_cost(instance, group) + best[rest ^ part]
                least = min(least, cost)
            if not part:
                break
            part = (part - 1) & rest
        best[mask] = least
    return best[-1]


def test_row_deletion_keeps_bound_and_ratio() -> None:
    """Tests the paper's claim that its bound and ratio hold when rows may be deleted."""
    deleted = 0
    for trees in (False, True):
        shape = Shape(rows=(4, 9), columns=(2, 5), values=(2, 5), trees=trees)
        for instance, rng in tables(11, 25, shape):
            k = int(rng.integers(2, 4))
            best = optimum_with_deletion(instance, k)
            outcome = Forest().run(Problem(instance, KAnonymity(k)), Context())
            assert outcome.solution is not None
            with_deletion = delete_outliers(outcome.solution, k)
            deleted += int(with_deletion.deleted.sum())
            assert outcome.bound <= best <= with_deletion.cost <= outcome.solution.cost
            assert with_deletion.cost <= max(2 * k - 1, 3 * k - 5) * best
    assert deleted > 0
