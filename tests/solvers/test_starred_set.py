"""Tests of the m-approximation for models closed under union, and of the claims on its page."""

from fractions import Fraction

import numpy as np
import pytest

from dial import enough, few
from incrowd.privacy.base import Group
from incrowd.privacy.distance import Equal, Hierarchical
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.ordered import Ordered
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.solvers.approx.m_approximation import MApproximation
from incrowd.solvers.approx.starred_set import StarredSet
from incrowd.solvers.base import Context
from oracle import optimum
from solvers.small_tables import Shape, models, tables

SHAPES = {
    "one attribute": Shape(rows=(2, 9), columns=(1, 4), values=(2, 3), sensitive=(3,)),
    "two attributes": Shape(rows=(2, 8), columns=(1, 3), sensitive=(3, 2)),
    "no attribute": Shape(rows=(2, 10), columns=(1, 4)),
}
TREE = Hierarchical(((0, 1, 2, 3), (0, 0, 1, 1), (0, 0, 0, 0)))


def run(rows, secret, model):
    """The method's bound and cost on a table."""
    problem = Problem(from_codes(np.array(rows), None, np.array(secret))[0], model)
    outcome = StarredSet().run(problem, Context())
    assert outcome.solution is not None
    return outcome.bound, outcome.solution.cost


@pytest.mark.parametrize("shape", SHAPES)
def test_ratio(shape):
    """Tests that the release is lawful, and bound ≤ optimum ≤ cost ≤ m · bound."""
    met = 0
    for instance, rng in tables(5, 20, SHAPES[shape]):
        for model in models(instance, rng):
            problem = Problem(instance, model)
            if not model.closed_under_union:
                assert StarredSet().refuse(problem) is not None
                continue
            assert StarredSet().refuse(problem) is None
            best, outcome = optimum(instance, model), StarredSet().run(problem, Context())
            if best is None:
                assert outcome.solution is None
                continue
            solution = outcome.solution
            assert solution is not None
            for number in range(len(solution.sizes)):
                group = problem.group(np.flatnonzero(solution.classes == number))
                assert model.lawful(group, problem.table)
            assert outcome.bound <= best <= solution.cost <= instance.columns * outcome.bound
            met += outcome.bound > 0
    assert met > enough(5)


def test_more_parts_of_a_group_than_two_bytes_count():
    """Tests a group with more than 65,536 lawful parts, all of which may stay."""
    secret = np.repeat([0, 1], [261, 261])
    problem = Problem(from_codes(np.zeros((522, 1), int), None, secret)[0], DistinctDiversity(2))
    assert StarredSet().refuse(problem) is None
    outcome = StarredSet().run(problem, Context())
    assert outcome.solution is not None and outcome.solution.cost == outcome.bound == 0


def test_too_many_histograms_are_refused():
    """Tests that states of 8 bytes each are limited whatever the number of groups."""
    secret = np.arange(24)
    problem = Problem(from_codes(secret[:, None] // 3, None, secret)[0], DistinctDiversity(2))
    assert StarredSet().refuse(problem) is not None


def test_k_anonymity_as_the_papers_method():
    """Tests that the bound is that of Liang and Yuan's three cases; one column is optimal."""
    for instance, rng in tables(6, 36, Shape(rows=(2, 11), columns=(1, 3), values=(2, 4))):
        problem = Problem(instance, KAnonymity(int(rng.integers(1, 5))))
        outcome, theirs = (s.run(problem, Context()) for s in (StarredSet(), MApproximation()))
        if theirs.solution is None:
            assert outcome.solution is None
            continue
        assert outcome.solution is not None
        assert outcome.bound >= theirs.bound
        if instance.columns == 1:
            assert outcome.bound == outcome.solution.cost


@pytest.mark.parametrize("distance", [Equal(), Ordered(), TREE], ids=["equal", "order", "tree"])
def test_complement_of_a_small_close_set(distance):
    """Tests Theorem 3: distances of a part and of its complement are as their sizes, inverted."""
    rng, close = np.random.default_rng(3), 0
    for _ in range(few(180)):
        table = rng.integers(1, 6, 4)
        part = rng.integers(0, table + 1)
        rest = table - part
        if not part.sum() or not rest.sum():
            continue
        model = TCloseness("0.3", distance)
        near, far = model.value(part, table), model.value(rest, table)
        assert far * int(rest.sum()) == near * int(part.sum())
        if near <= Fraction(3, 10) and 2 * part.sum() <= table.sum():
            group = Group(np.repeat(np.arange(4), rest)[:, None].astype(np.int32), (4,))
            whole = Group(np.repeat(np.arange(4), table)[:, None].astype(np.int32), (4,))
            assert model.lawful(group, whole)
            close += 1
    assert close > enough(15)


@pytest.mark.parametrize("columns", [1, 3])
def test_nearest_rows_say_nothing(columns):
    """Tests the first counterexample: all rows have equal ones beside them, and all must pay."""
    rows, secret = [[0] * columns] * 4 + [[1] * columns] * 4, [0] * 4 + [1] * 4
    model = TCloseness("0.4")
    instance, _ = from_codes(np.array(rows), None, np.array(secret))
    assert optimum(instance, model) == 8 * columns
    assert model.smallest_class(Problem(instance, model).table) <= 2
    assert run(rows, secret, model) == (8, 8 * columns)


def test_rows_in_need_are_not_all_that_pay():
    """Tests the second: 7 rows cannot stay, and 47 pay at the least."""
    rows = [[0]] * 133 + [[1]] * 7
    secret = [0] * 7 + [1] * 126 + [0] * 7
    model = TCloseness("0.05")
    whole = np.array([14, 126])
    assert model.value(np.array([7, 126]), whole) <= Fraction(1, 20)  # group a may stay whole
    assert (
        model.smallest_class(Problem(from_codes(np.array(rows), None, secret)[0], model).table) <= 7
    )
    assert run(rows, secret, model) == (47, 47)


@pytest.mark.parametrize("apart", [1, 2, 4])
def test_the_starred_set_alone_leaves_m_open(apart):
    """Tests the third: one bound, optima from it up to m times as much."""
    other = [1] * apart + [0] * (4 - apart)
    rows, secret = [[0] * 4] * 3 + [other] * 3, [0] * 3 + [1] * 3
    instance, _ = from_codes(np.array(rows), None, np.array(secret))
    assert optimum(instance, TCloseness("0.4")) == 6 * apart
    assert run(rows, secret, TCloseness("0.4"))[0] == 6


def test_too_many_histograms():
    """Tests that a table with many sensitive values is refused, by size."""
    rng = np.random.default_rng(0)
    secret = rng.integers(0, 14, 300)
    problem = Problem(from_codes(rng.integers(0, 4, (300, 3)), None, secret)[0], TCloseness("0.2"))
    reason = StarredSet().refuse(problem)
    assert reason is not None and "engine" in reason
