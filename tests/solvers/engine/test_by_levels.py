"""The first release by levels of columns, beside the same method in plain Python."""

from itertools import groupby

import numpy as np
import pytest
from tests.solvers.ranged_tables import ranged_tables
from tests.solvers.small_tables import Shape, tables

from dial import enough
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.support import support_prices
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.engine import by_levels as method
from incrowd.solvers.engine.by_levels import by_levels, vectors_by_cost
from incrowd.solvers.engine.engine import Engine


def nodes_of(instance: Instance, row: int, vector: np.ndarray) -> tuple[tuple[int, ...], int]:
    """Return the nodes of a row at the levels of a vector, and what they cost."""
    t = instance.tables
    at = t.start + vector * t.width + instance.codes[row]
    return tuple(t.node[at].tolist()), int(t.cost[at].sum())


def slowly(instance: Instance, k: int) -> list[int]:
    """Return the class of each distinct row, by the method's description."""
    vectors, cost = vectors_by_cost(instance, 10**6)
    width, band = instance.cell / method.STEPS, method.BANDS / instance.cell
    label = [-1] * instance.distinct
    number = 0
    for _, step in groupby(zip(vectors, cost, strict=True), key=lambda v: int(v[1] / width + 1e-9)):
        groups = []
        waiting = [r for r in range(instance.distinct) if label[r] < 0]
        for vector, _ in step:
            alike: dict[tuple[int, ...], list[int]] = {}
            for r in waiting:
                alike.setdefault(nodes_of(instance, r, vector)[0], []).append(r)
            for rows in alike.values():
                copies = int(instance.counts[rows].sum())
                if copies >= k:
                    paid = nodes_of(instance, rows[0], vector)[1]
                    groups.append((int(paid * band), copies, rows))
        for _, _, rows in sorted(groups, key=lambda g: g[:2]):
            left = [r for r in rows if label[r] < 0]
            if sum(int(instance.counts[r]) for r in left) >= k:
                for r in left:
                    label[r] = number
                number += 1
    left = [r for r in range(instance.distinct) if label[r] < 0]
    enough = sum(int(instance.counts[r]) for r in left) >= k
    for r in left:
        label[r] = number if enough else number - 1
    return label


def test_the_kernels_make_what_plain_python_makes():
    shape = Shape(rows=(5, 40), columns=(1, 5), values=(2, 6), trees=True)
    classes = 0
    for instance, rng in [*tables(1, 60, shape), *ranged_tables(2, 30, (5, 30))]:
        k = int(rng.integers(2, 6))
        if instance.rows < k:
            continue
        found = by_levels(instance, k)
        assert found is not None
        assert found.tolist() == np.array(slowly(instance, k))[instance.copies].tolist()
        solution = Solution.of(instance, found)
        assert solution.sizes.min() >= k
        classes += len(solution.sizes)
    assert classes > enough(200)


def test_fewer_vectors_and_haste_still_give_lawful_classes():
    shape = Shape(rows=(30, 60), columns=(4, 6), values=(3, 6), trees=True)
    for instance, rng in tables(3, 20, shape):
        k = int(rng.integers(2, 5))
        hurried = iter([False, False, *[True] * 1_000])
        for found in (
            by_levels(instance, k, limit=1e-9),
            by_levels(instance, k, hurry=lambda times=hurried: next(times)),
        ):
            assert found is not None
            assert Solution.of(instance, found).sizes.min() >= k


@pytest.mark.parametrize("most", [1, 2, 7, 30, 100, 10_000])
def test_vectors_are_about_as_many_as_asked_for_and_end_with_the_root(most: int):
    for instance, _ in tables(
        4, 10, Shape(rows=(8, 20), columns=(3, 6), values=(3, 6), trees=True)
    ):
        vectors, cost = vectors_by_cost(instance, most)
        everything = int(np.prod(instance.tables.levels))
        assert min(most, everything) // 3 <= len(vectors) <= most + 1
        assert (vectors[-1] == instance.tables.levels - 1).all()
        assert (np.diff(cost) >= 0).all()
        assert len(np.unique(vectors, axis=0)) == len(vectors)


def test_a_table_of_very_many_columns_is_left_to_others():
    wide = from_codes(np.eye(30, dtype=np.int64))[0]
    assert by_levels(wide, 2) is None


@pytest.mark.parametrize("k", [1, 2, 5])
def test_a_bound_stands_without_time(k: int) -> None:
    """Tests that the support bound is there beside a lawful release, whatever the time."""
    for instance, _ in tables(9, 20, Shape(rows=(6, 40), columns=(1, 5))):
        price, complete = support_prices(PrefixTree(instance), k)
        assert complete
        found = Engine().run(Problem(instance, KAnonymity(k)), Context(stop=Stop(time_limit=0.0)))
        assert found.solution is not None
        assert found.bound == int(price @ instance.counts) <= found.solution.cost
        assert found.prices is not None and found.prices.bound(instance.counts) == found.bound
