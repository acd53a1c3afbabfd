"""Tests that small blocks solved anew bring a release with deletions to the optimum, or near it."""

import numpy as np

from deletion.test_deletion import SHAPES, asked, counted
from dial import enough, few
from incrowd.deletion.found import cost_of
from incrowd.deletion.small import MOST, Units, by_blocks
from incrowd.deletion.solving import solve_deleting
from incrowd.errors import NoLawfulReleaseError
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.deletion import Deletion
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.engine.windows import sorted_classes
from incrowd.solvers.exact.submultisets import work
from solvers.small_tables import Shape, tables


def test_the_search_finds_the_optimum_of_small_tables() -> None:
    """Tests tables of up to 12 rows, of which the search missed one in five without blocks."""
    met = 0
    for instance, rng in tables(77, 9, Shape(rows=(8, 12), columns=(2, 4), trees=True)):
        k, deletion = asked(instance, rng)
        problem = Problem(instance, KAnonymity(k))
        try:
            _, best = solve_deleting(problem, deletion, "subset-dp")
        except NoLawfulReleaseError:
            continue
        assert solve_deleting(problem, deletion, "engine")[1] == best
        met += 1
    assert met > enough(5)


def test_blocks_take_most_of_what_is_lost() -> None:
    """Tests tables of several blocks, from stretches of the sorted table, against all patterns."""
    total = np.zeros(3)  # before, after, of the optimum
    for seed in range(few(12)):
        rng = np.random.default_rng(seed)
        instance, _ = from_codes(rng.integers(0, [3, 4, 6], (24, 3)))
        problem, deletion = Problem(instance, KAnonymity(2 + seed % 2)), Deletion(1, 1 + seed % 4)
        assert work(instance) > MOST
        start = sorted_classes(instance, problem.smallest_class)
        classes = by_blocks(problem, start, deletion, Context())
        cost = counted(problem, classes, deletion)
        best = solve_deleting(problem, deletion, "pattern-milp")[1]
        assert best <= cost
        total += cost_of(problem, start, deletion), cost, best
    before, after, optimum = total
    assert after - optimum < 0.2 * (before - optimum)


def test_a_stop_within_a_block_keeps_the_release() -> None:
    """Tests that a block which time ends is no error: the release before it stays."""
    instance, _ = from_codes(np.random.default_rng(4).integers(0, [3, 4, 6], (24, 3)))
    problem, deletion, stop = Problem(instance, KAnonymity(2)), Deletion(1, 2), Stop()
    units = Units.of(problem, sorted_classes(instance, 2), deletion)
    block = units.block(units.order()[-1], np.ones(len(units.members)))
    assert units.anew(block, Context(stop=stop)) is not None
    stop.interrupt()
    assert units.anew(block, Context(stop=stop)) is None


def test_classes_that_are_too_large_are_left_as_they_are() -> None:
    """Tests a class of 24 different rows, of which not all subsets can be gone through."""
    instance, _ = from_codes(np.arange(48).reshape(24, 2))
    problem, deletion, start = Problem(instance, KAnonymity(21)), Deletion(1, 3), np.zeros(24, int)
    assert by_blocks(problem, start, deletion, Context()).tolist() == start.tolist()
    assert solve_deleting(problem, deletion, "engine")[1] == 21 * 2 + 3


def test_units_cost_what_the_release_costs() -> None:
    """Tests what blocks are compared by, and that a block has no row twice."""
    for instance, rng in tables(78, 6, SHAPES["trees and weights"]):
        problem, deletion = Problem(instance, KAnonymity(1)), Deletion(3)
        classes = rng.integers(-1, 3, instance.rows)
        classes[0] = 0
        units = Units.of(problem, classes, deletion)
        assert units.pays.sum() == cost_of(problem, classes, deletion)
        block = units.block(0, np.ones(len(units.members)))
        assert len(np.unique(block)) == len(block)
