"""Tests of the papers' worked tables and of the families whose optimum is known outright."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from exact_release import brute, distance
from scipy.optimize import linprog

from dial import few
from incrowd.errors import InputError
from incrowd.instances import find, make
from incrowd.instances.edge_partition import TernaryTriangles
from incrowd.instances.known import DistanceTwins, TwoFactorTight
from incrowd.instances.table import ModelSpec
from incrowd.instances.worked import FIGURE_2, patients

# Aggarwal et al. 2005, Fig. 2: the rows of edges (3,4), (1,4), (1,2), (1,3), (2,3).
FIGURE_2_ROWS = """
0012 0012 0021
1002 2001 1002
1200 2100 2100
2010 1020 1020
0210 0120 0210
"""


def test_figure_2():
    """Tests the worked table of the ternary reduction, cell by cell."""
    table = TernaryTriangles(FIGURE_2).to_table()
    told = ["".join(cells) for cells in table.cells()]
    assert told == [line.replace(" ", "") for line in FIGURE_2_ROWS.split("\n") if line]


@pytest.mark.parametrize(
    ("model", "cost"),
    [
        (ModelSpec("k-anonymity", k=3), 54),
        (ModelSpec("l-diversity", l=2, l_kind="frequency"), 50),
        (ModelSpec("t-closeness", t=Fraction(3, 10)), 52),
    ],
)
def test_patients(model, cost):
    """Tests the optima of Liang and Yuan's Table 1 under three models."""
    assert brute(patients(model)) == cost


def test_patients_partitions_of_the_paper():
    """Tests the costs of the partitions that the paper shows."""
    table = patients(ModelSpec("k-anonymity", k=3))
    assert table.cost(((0, 1, 2), (3, 4, 5, 6), (7, 8, 9))) == 54
    assert table.class_cost((0, 1, 2)) == 15


@pytest.mark.parametrize("k", range(2, 9))
def test_distance_twins(k):
    """Tests equal distances 2l in both tables, and costs k²l and k(4l − 2)."""
    size = 2 ** (k - 2)
    costs = {}
    for twin in ("blocks", "halves"):
        family = DistanceTwins(k, twin)
        table = family.to_table()
        for a, b in combinations(table.codes, 2):
            assert (a != b).sum() == 2 * size
        costs[twin] = table.cost(family.solve_source())
        assert costs[twin] == family.cost_of(family.solve_source())
    assert costs == {"blocks": k * k * size, "halves": k * (4 * size - 2)}


def test_distance_twins_halves_have_two_constant_columns():
    """Tests why the cost is k(4l − 2), not the 4kl of the text."""
    codes = DistanceTwins(5, "halves").to_table().codes
    constant = np.flatnonzero((codes == codes[0]).all(axis=0))
    assert constant.tolist() == [0, codes.shape[1] - 1]


def test_two_factor_tight():
    """Tests the optimum 24, three times the cycle, and that the cycle is a least 2-factor."""
    family = TwoFactorTight()
    table = family.to_table()
    assert ["".join(row) for row in table.cells()] == (
        ["0000", "0001", "0011", "0111", "1111", "1110", "1100", "1000"]
    )
    assert family.cycle() == 8  # and no two rows are closer than 1: no 2-factor is lighter
    assert all((a != b).any() for a, b in combinations(table.codes, 2))
    assert brute(table) == 24 == family.cost_of(family.solve_source())


def test_emd_of_the_halfway_metric():
    """Tests this folder's closed form for closeness-matching-half against a transport LP."""
    spec = make("closeness-matching-half", 0, side=1, triples=1)[0].to_table().model
    matrix = np.array([[float(d) for d in row] for row in spec.distance])
    rng = np.random.default_rng(3)
    for _ in range(few(25)):
        group, table = rng.integers(0, 5, 4), rng.integers(1, 9, 4)
        group[int(rng.integers(4))] += 1
        rows = np.kron(np.eye(4), np.ones(4))
        columns = np.kron(np.ones(4), np.eye(4))
        told = np.concatenate([group / group.sum(), table / table.sum()])
        best = linprog(matrix.ravel(), A_eq=np.vstack([rows, columns]), b_eq=told)
        counts = [_counter(group), _counter(table)]
        assert float(distance(spec, *counts)) == pytest.approx(best.fun)
        equal = linprog(1 - np.eye(4).ravel(), A_eq=np.vstack([rows, columns]), b_eq=told)
        assert float(distance(replace(spec, distance=None), *counts)) == pytest.approx(equal.fun)


def _counter(counts):
    return Counter({v: int(c) for v, c in enumerate(counts)})


def test_distance_twins_limits():
    """Tests that a size whose columns would not fit is refused."""
    for k, twin in ((1, "blocks"), (21, "halves"), (4, "thirds")):
        with pytest.raises(InputError):
            DistanceTwins(k, twin)
    with pytest.raises(InputError):
        find("distance-twins").read("", {})
