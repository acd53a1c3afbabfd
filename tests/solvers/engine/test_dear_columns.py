"""Columns that cost far more than others: no cell of theirs is hidden that need not be."""

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from dial import few
from incrowd.driver.solve import solve
from incrowd.hierarchy.tree import Tree
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.baseline.dear_columns import dearest_first, has_dear_columns
from oracle import optimum

DEAR = 10**9


def table(rows: int, values: tuple[int, ...], secrets: int = 1, dear: int = DEAR) -> Instance:
    """Columns of so many values, of which the first one costs more than all others together.

    Each of its values stands in equally many rows, and each sensitive value beside each of them.
    """
    rng = np.random.default_rng(rows)
    codes = np.column_stack([rng.integers(0, v, rows) for v in values])
    codes[:, 0] = np.arange(rows) % values[0]
    secret = np.arange(rows) // values[0] % secrets
    leaves = [tuple(map(str, range(v))) for v in values]
    costs = dear, *(1 for _ in values[1:])
    trees = tuple(
        Tree.suppression(f"q{j}", each, cost)
        for j, (each, cost) in enumerate(zip(leaves, costs, strict=True))
    )
    return from_codes(codes, trees, secret[:, None])[0]


def hidden(solution: Solution) -> int:
    """How many rows hide the first column."""
    return int(solution.sizes[solution.levels[:, 0] > 0].sum())


CASES: dict[str, tuple[Instance, Model]] = {
    "k": (table(100, (10, 5, 5, 5, 5, 5)), KAnonymity(7)),
    "t": (table(240, (8, 4, 4, 4, 4, 4), 4), KAnonymity(4) & TCloseness("0.3")),
}


@pytest.mark.parametrize("case", CASES)
def test_no_dear_cell_is_hidden_without_need(case: str) -> None:
    """Tests tables in which all rows of a dear value are a lawful class."""
    problem = Problem(*CASES[case])
    found = solve(problem, "engine")
    assert hidden(found.solution) == 0
    assert found.cost <= dearest_first(problem, lambda: False).cost


def test_an_optimum_beside_dear_patterns_is_one() -> None:
    """Tests the program over patterns: HiGHS took two cheap cells for none beside dear ones."""
    dear = Problem(table(200, (20, 5, 5, 5, 5), 5), DistinctDiversity(3))
    cheap = Problem(table(200, (20, 5, 5, 5, 5), 5, dear=100), DistinctDiversity(3))
    one, other = solve(dear, "engine"), solve(cheap, "engine")
    assert hidden(one.solution) == hidden(other.solution) == 0
    assert one.bound <= other.cost
    assert one.cost == other.cost == one.bound


@pytest.mark.parametrize("model", [KAnonymity(2), KAnonymity(3), DistinctDiversity(2)])
def test_optima_of_weights_apart(model: Model) -> None:
    """Tests the program over patterns against brute force, where dear cells have to be hidden."""
    for seed in range(few(12)):
        rng = np.random.default_rng(seed)
        rows = int(rng.integers(6, 9))
        costs = rng.choice([1, 3, 10**6, 10**9, 10**11], 3)
        trees = tuple(
            Tree.suppression(f"q{j}", tuple("abc"), int(cost)) for j, cost in enumerate(costs)
        )
        codes, secret = rng.integers(0, 3, (rows, 3)), rng.integers(0, 2, (rows, 1))
        instance = from_codes(codes, trees, secret)[0]
        best = optimum(instance, model)
        if best is None:
            continue
        found = solve(Problem(instance, model), "pattern-milp")
        assert found.bound <= best <= found.cost
        assert found.cost == best


def test_dear_columns_are_told() -> None:
    """Tests where the search begins otherwise: beyond ten cells of the middle column."""
    assert not has_dear_columns(table(12, (2, 2, 2), dear=10))
    assert has_dear_columns(table(12, (2, 2, 2), dear=11))
    assert not has_dear_columns(table(12, (2,)))


def test_parts_by_the_dearest_column() -> None:
    """Tests lawful parts, also of a value that few rows have, and none beyond the time."""
    codes = np.array([[0, 0]] * 4 + [[1, 0]] * 3 + [[2, 1]], np.int64)
    trees = (
        Tree.suppression("a", tuple("xyz"), 100),
        Tree.suppression("b", tuple("uv"), 1),
    )
    problem = Problem(from_codes(codes, trees)[0], KAnonymity(3))
    found = dearest_first(problem, lambda: False)
    assert sorted(found.sizes.tolist()) == [4, 4]
    assert found.cost == 4 * 101  # of the last row and the smallest lawful group
    assert dearest_first(problem, lambda: True).sizes.tolist() == [8]


def test_parts_of_ranges() -> None:
    """Tests that a dear column of numbers is cut at medians while both sides are lawful."""
    frame = pl.DataFrame({"age": [*range(20, 32)], "sex": ["f", "m"] * 6})
    release = ic.anonymize(
        frame, k=3, hierarchies={"age": "range"}, weights={"age": 1000}, method="engine"
    )
    assert release.smallest_class >= 3
    found = dearest_first(release.coded.problem, lambda: False)
    assert sorted(found.sizes.tolist()) == [3, 3, 3, 3]
    assert release.cost_units <= found.cost
