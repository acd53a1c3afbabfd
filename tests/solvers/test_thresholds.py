"""Tests of exact methods where a parameter is at, just below and just above what classes attain."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from dial import few
from incrowd import anonymize
from incrowd.deletion.solving import solve_deleting
from incrowd.hierarchy.tree import Tree
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.base import Group
from incrowd.privacy.beta_likeness import BasicBetaLikeness
from incrowd.privacy.distance import Equal, Hierarchical
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
from incrowd.privacy.ordered import Ordered
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.deletion import Deletion
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.solvers.base import Context
from incrowd.solvers.catalog import SOLVERS
from incrowd.solvers.fpt import program
from incrowd.solvers.fpt.pattern_milp import PatternMILP
from oracle import optimum

STEP = Fraction(1, 10**9)
EXACT = [solver for solver in SOLVERS if solver.guarantee == "exact"]
STARS = ("a", 3_000_000_000), ("b", 1_000_000)
TREE = Hierarchical(((0, 1, 2, 3), (0, 0, 1, 1), (0, 0, 0, 0)))
PARAMETERS: dict[str, tuple[Callable[[Any], Model], Fraction]] = {
    "t, equal distance": (lambda t: TCloseness(t, Equal()), Fraction(1)),
    "t, ordered distance": (lambda t: TCloseness(t, Ordered()), Fraction(1)),
    "t, distance in a tree": (lambda t: TCloseness(t, TREE), Fraction(1)),
    "α": (lambda alpha: AlphaK(alpha, 1), Fraction(1)),
    "β": (BasicBetaLikeness, Fraction(99)),
    "c": (lambda c: RecursiveDiversity(c, 2), Fraction(99)),
}


def attained(make: Callable[[Any], Any], table: Group, most: Fraction) -> list[Fraction]:
    """What classes of a table attain, inside the parameter's range."""
    whole = table.histograms[0]
    found = set()
    for counts in product(*(range(int(c) + 1) for c in whole)):
        if sum(counts) and np.count_nonzero(counts) > 1:
            value = make(Fraction(1)).value(np.array(counts), whole)
            if isinstance(value, Fraction) and STEP < value < most - STEP:
                found.add(value)
    return sorted(found)


def small(rng: np.random.Generator) -> Instance:
    """Four to seven rows of one or two columns, with a sensitive one of four values."""
    rows, columns = int(rng.integers(4, 8)), int(rng.integers(1, 3))
    secret = rng.integers(0, 4, rows)
    secret[:4] = range(4)
    return from_codes(rng.integers(0, 3, (rows, columns)), sensitive=secret)[0]


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_exact_methods_at_what_classes_attain(parameter: str) -> None:
    """Tests that each ends with the oracle's optimum, on both sides of a threshold."""
    make, most = PARAMETERS[parameter]
    rng = np.random.default_rng(11)
    served = set()
    for _ in range(few(6, 3)):
        instance = small(rng)
        values = attained(make, Problem(instance, make(Fraction(1))).table, most)
        for value in rng.choice(np.array(values, object), min(2, len(values)), replace=False):
            for asked in (value - STEP, value, value + STEP):
                problem = Problem(instance, make(asked))
                best = optimum(instance, problem.model)
                if best is None:
                    continue
                for solver in EXACT:
                    if solver.refuse(problem) is not None:
                        continue
                    served.add(solver.id)
                    outcome = solver.run(problem, Context())
                    found = outcome.solution
                    assert found is not None, (solver.id, asked)
                    assert (outcome.ended, outcome.bound, found.cost) == ("finished", best, best)
    assert {"subset-dp", "split-recursion"} <= served
    assert "closeness-milp" in served or not parameter.startswith("t")


@pytest.mark.parametrize(
    ("names", "rows", "t"),
    [
        ("qs", ["02", "11", "12", "02", "11", "02"], "0.33333333"),
        ("abcs", ["1121", "0123", "2020", "2200"], "0.749999"),
    ],
)
def test_just_below_what_is_attained(names: str, rows: list[str], t: str) -> None:
    """Tests tables on which floating point lost the optimum, or found no release at all."""
    data = pl.DataFrame([dict(zip(names, row, strict=True)) for row in rows])
    found = [
        anonymize(data, 1, sensitive="s", t=t, method=method)
        for method in ("closeness-milp", "subset-dp")
    ]
    assert [release.status for release in found] == ["optimal", "optimal"]
    assert found[0].cost == found[1].cost


def test_what_floats_cannot_prove_is_not_called_finished() -> None:
    """Tests stars of a billion units, whose costs HiGHS cannot tell apart."""
    trees = tuple(Tree.suppression(name, ("0", "1"), star) for name, star in STARS)
    codes = np.repeat([[0, 0], [0, 1], [1, 1]], [5, 1, 1], axis=0)
    problem = Problem(from_codes(codes, trees)[0], KAnonymity(4))
    deletion = Deletion(1_015_736_615)
    best, _ = solve_deleting(problem, deletion, "subset-dp")
    found, cost = solve_deleting(problem, deletion, "pattern-milp")
    assert found.bound <= best.bound <= cost
    assert (found.ended == "finished") == (found.bound == cost)


@pytest.mark.parametrize("ends", [True, False])
def test_no_method_is_finished_without_a_proof(monkeypatch: pytest.MonkeyPatch, ends: bool) -> None:
    """Tests a HiGHS whose bound stays behind by a unit, at its end or on the way."""
    real = program.solve_program

    def behind(*given: Any) -> tuple[Any, float, bool]:
        values, bound, _ = real(*given)
        return values, bound - 1, ends

    monkeypatch.setattr(program, "solve_program", behind)
    problem = Problem(from_codes(np.array([[0, 0], [0, 1], [1, 1], [1, 1]]))[0], KAnonymity(2))
    outcome = PatternMILP().run(problem, Context())
    assert outcome.solution is not None and outcome.bound < outcome.solution.cost
    assert outcome.ended == "stopped paying"
