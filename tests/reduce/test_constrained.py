"""Fixed and linked columns as reductions: parts whose costs add up, and the way back."""

import numpy as np
import pytest

from dial import few
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.fixed import FixColumns, groups_of
from incrowd.reduce.linked import LinkColumns


def table(rng: np.random.Generator, secret: bool) -> Instance:
    """A small table with many equal rows."""
    rows = int(rng.integers(1, 30))
    values = rng.integers(0, 3, rows) if secret else None
    return from_codes(rng.integers(0, 3, (rows, 4)), None, values)[0]


def any_classes(rng: np.random.Generator, instance: Instance) -> Solution:
    """Classes at random."""
    return Solution.of(instance, rng.integers(0, 4, instance.rows))


@pytest.mark.parametrize("secret", [False, True])
def test_parts_of_fixed_columns_add_up(secret: bool) -> None:
    """Tests that no lifted class holds two fixed values, and costs as much as the parts' do."""
    rng = np.random.default_rng(3)
    for _ in range(few(50)):
        instance = table(rng, secret)
        fixed = tuple(int(j) for j in rng.permutation(4)[: rng.integers(1, 5)])
        split = FixColumns(fixed).apply(Problem(instance, KAnonymity(2)))
        solutions = [any_classes(rng, part.instance) for part in split.problems]
        lifted = split.lift(solutions)
        values = instance.codes[instance.copies][:, list(fixed)]
        assert sum(part.instance.rows for part in split.problems) == instance.rows
        assert lifted.cost == sum(solution.cost for solution in solutions)
        for c in range(len(lifted.sizes)):
            assert len(np.unique(values[lifted.classes == c], axis=0)) == 1


@pytest.mark.parametrize("secret", [False, True])
def test_linked_columns_are_one(secret: bool) -> None:
    """Tests that a lifted class costs what it does where the links are one column."""
    rng = np.random.default_rng(4)
    for _ in range(few(50)):
        instance = table(rng, secret)
        first, second, third, fourth = (int(j) for j in rng.permutation(4))
        links = [((first, second),), ((first, second, third),), ((first, second), (third, fourth))]
        for link in links:
            reduced = LinkColumns(link).apply(Problem(instance, KAnonymity(2)))
            solution = any_classes(rng, reduced.problem.instance)
            lifted = reduced.lift(solution)
            assert lifted.cost == solution.cost
            for columns in link:
                raised = lifted.levels[:, list(columns)]
                assert (raised == raised[:, :1]).all()


def test_groups_are_numbered_by_value() -> None:
    """Tests the groups of equal fixed values."""
    codes = np.array([[1, 0], [0, 5], [1, 7], [0, 5]], np.int32)
    assert groups_of(codes, (0,)).tolist() == [1, 0, 1, 0]
    assert groups_of(codes, (1,)).tolist() == [0, 1, 2, 1]
    assert groups_of(codes, ()).tolist() == [0, 0, 0, 0]
