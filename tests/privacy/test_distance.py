"""Tests of the ground distances: hand calculations, checks of what is no metric."""

from fractions import Fraction

import naive_models as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dial import few
from incrowd.errors import InputError
from incrowd.hierarchy.tree import Tree
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.privacy.distance import Equal, Hierarchical
from incrowd.privacy.metric import Metric
from incrowd.privacy.ordered import Ordered
from incrowd.privacy.t_closeness import TCloseness

F = Fraction


def test_liang_yuan_example() -> None:
    """Tests Liang and Yuan's example after Fact 1: {2, 4} against Table 1 is 0.4 away.

    Table 1 holds viral infection 3, heart disease 3, cancer 4 times.
    """
    table = np.array([3, 3, 4])
    assert Equal().work(np.array([0, 1, 1]), table) == F(3, 10)
    assert Equal().work(np.array([1, 2, 0]), table) == F(2, 5)  # first class of Table 2
    assert Equal().work(np.array([0, 0, 3]), table) == F(3, 5)  # third class of Table 2


def test_li_li_venkatasubramanian_example() -> None:
    """Tests the t-closeness paper's salaries: 3k, 4k, 5k is .375 away, 6k, 8k, 11k is .167."""
    table = np.ones(9, np.int64)
    low, spread = np.zeros(9, np.int64), np.zeros(9, np.int64)
    low[[0, 1, 2]] = 1
    spread[[3, 5, 8]] = 1
    assert Ordered().work(low, table) == F(375, 1000)
    assert Ordered().work(spread, table) == F(1, 6)
    assert Ordered(tuple(range(8, -1, -1))).work(low, table) == F(375, 1000)


def test_hierarchical_by_hand() -> None:
    """Tests that moving within a branch costs half of moving across, in a tree of height 2."""
    levels = ((0, 1, 2, 3), (0, 0, 1, 1), (0, 0, 0, 0))
    table = np.array([1, 1, 1, 1])
    assert Hierarchical(levels).work(np.array([2, 0, 1, 1]), table) == F(1, 8)
    assert Hierarchical(levels).work(np.array([1, 1, 0, 0]), table) == F(1, 2)
    taller = (*levels, (0, 0, 0, 0))
    assert Hierarchical(taller).work(np.array([1, 1, 0, 0]), table) == F(1, 2)


def test_a_tree_as_ground_distance() -> None:
    """Tests that the tree of suppression is the equal distance."""
    tree = Tree.suppression("s", ("a", "b", "c"))
    part, table = np.array([2, 0, 1]), np.array([3, 3, 4])
    assert Hierarchical.of(tree).work(part, table) == Equal().work(part, table)


counts = st.lists(st.integers(0, 5), min_size=5, max_size=5).filter(any)


@settings(max_examples=few(80), deadline=None)
@given(part=counts, rest=counts, points=st.lists(st.integers(0, 9), min_size=5, max_size=5))
def test_metric_transport(part: list[int], rest: list[int], points: list[int]) -> None:
    """Tests exact transport on distances in the plane of sums against a minimum-cost flow."""
    matrix = [[abs(a - b) + (i != j) for j, b in enumerate(points)] for i, a in enumerate(points)]
    metric = Metric.of(matrix)
    table = [p + r for p, r in zip(part, rest, strict=True)]
    expected = naive.mover(
        [v for v, n in enumerate(part) for _ in range(n)],
        [v for v, n in enumerate(table) for _ in range(n)],
        [list(row) for row in metric.matrix],
    )
    assert metric.work(np.array(part), np.array(table)) == expected


def test_special_metrics_agree() -> None:
    """Tests that equal, ordered and hierarchical distances equal their matrices."""
    rng = np.random.default_rng(1)
    levels = [list(range(12)), [v // 3 for v in range(12)], [v // 6 for v in range(12)], [0] * 12]
    pairs = [
        (Equal(), naive.equal(12)),
        (Ordered(), naive.ordered(12)),
        (Hierarchical(tuple(map(tuple, levels))), naive.hierarchical(levels)),
    ]
    for _ in range(few(20)):
        part = rng.integers(0, 4, 12)
        part[0] += 1
        table = part + rng.integers(0, 9, 12)
        for special, matrix in pairs:
            assert special.work(part, table) == Metric.of(matrix).work(part, table)


def test_scaling_and_large_numbers() -> None:
    """Tests that the diameter becomes 1 and that huge denominators do not overflow."""
    small = Metric.of([[0, "0.3"], ["0.3", 0]])
    assert small.matrix == Metric.of([[0, 1], [1, 0]]).matrix
    tiny = F(1, 10**25)
    odd = Metric.of([[0, 1, 1 - tiny], [1, 0, 1], [1 - tiny, 1, 0]])
    assert odd.work(np.array([1, 0, 0]), np.array([1, 0, 1])) == (1 - tiny) / 2
    rows = Group(np.array([[0], [2]], np.int32), (3,))
    classes = Classes(np.array([0, 1]), rows)
    assert TCloseness(F(1, 2), odd).lawful_classes(classes).all()
    assert not TCloseness(F(1, 2) - tiny, odd).lawful_classes(classes).any()


BAD = [
    ([[0, 1]], "as many columns as rows"),
    ([[0, -1], [-1, 0]], "at least 0"),
    ([[1, 1], [1, 0]], "value 1 is not at distance 0"),
    ([[0, 1], ["0.5", 0]], "not symmetric: row 1, column 2"),
    ([[0, 3, 1], [3, 0, 1], [1, 1, 0]], "from 1 to 2 is farther than by way of 3"),
    ([[0, "x"], ["x", 0]], "must be a number"),
]


@pytest.mark.parametrize(("matrix", "message"), BAD)
def test_no_metric(matrix: list, message: str) -> None:
    """Tests that what is no metric is refused, with the place."""
    with pytest.raises(InputError, match=message):
        Metric.of(matrix)


def test_sizes_must_fit() -> None:
    """Tests that a distance over another number of values is refused."""
    table = np.array([1, 1, 1])
    for distance in (
        Ordered((1, 0)),
        Hierarchical(((0, 1), (0, 0))),
        Metric.of([[0, 1], [1, 0]]),
    ):
        with pytest.raises(InputError, match="the sensitive attribute has 3"):
            distance.work(table, table)


@pytest.mark.parametrize(
    "levels",
    [
        ((0, 1, 2), (0, 0, 1)),  # no root
        ((0, 1), (0,)),  # a value without a node
        ((0, 1, 2), (0, 0, 1), (0, 1, 1), (0, 0, 0)),  # two parents
        ((0, 0), (0, 0)),  # two values as one
    ],
)
def test_no_hierarchy(levels: tuple) -> None:
    """Tests that what is no tree is refused."""
    with pytest.raises(InputError):
        Hierarchical(levels)


def test_wide_ordered_attribute() -> None:
    """Tests the sparse ordered form on many values and large tables against the plain one."""
    rng = np.random.default_rng(7)
    values = rng.integers(0, 500, (2000, 1)).astype(np.int32)
    table = Group(values, (500,))
    classes = Classes(np.unique(rng.integers(0, 90, 2000), return_inverse=True)[1], table)
    order = Ordered(tuple(int(v) for v in rng.permutation(500)))
    numerator, denominator = order.works(classes.histograms[0])
    for i in range(0, 90, 9):
        plain = order.work(classes.group(i).histograms[0], table.histograms[0])
        assert F(int(numerator[i]), int(denominator[i])) == plain
