"""Tests of values that cost something though they stay: every method, bound, proof, and checker."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from incrowd.bounds.best import best_prices
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.deletion.solving import solve_deleting
from incrowd.driver.solve import solve
from incrowd.errors import InputError, OutOfScopeError
from incrowd.hierarchy.tree import Tree
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.deletion import Deletion
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.solvers.approx.forest import Forest
from incrowd.solvers.base import Solver
from incrowd.solvers.catalog import SOLVERS
from oracle import optimum, optimum_deleting
from solvers.small_tables import Shape, models, tables

SHAPES = {
    "trees": Shape(rows=(3, 8), columns=(1, 4), trees=True, values=(2, 5)),
    "copies": Shape(rows=(4, 8), columns=(1, 3), trees=True, values=(2, 3)),
    "sensitive": Shape(rows=(3, 7), columns=(1, 3), trees=True, sensitive=(3,)),
}


def with_leaf_costs(instance: Instance, rng: np.random.Generator) -> Instance:
    """The instance with costs of values, those of some columns, each at most its parent's."""
    trees = []
    for tree in instance.trees:
        assert isinstance(tree, Tree)
        cost = tree.cost.copy()
        if rng.random() < 0.8:
            cost[0] = rng.integers(0, cost[1] + 1)
        trees.append(replace(tree, cost=cost))
    return replace(instance, trees=tuple(trees))


@cache
def problems(shape: str) -> list[tuple[Problem, int]]:
    """Problems of a shape, and what each costs at least: every method is asked the same ones."""
    found = []
    for plain, rng in tables(9, 9, SHAPES[shape]):
        instance = with_leaf_costs(plain, rng)
        asked = [] if instance.sensitive is not None else [KAnonymity(2)]
        for model in (*models(instance, rng), *asked):
            problem, best = Problem(instance, model), optimum(instance, model)
            if best is not None and problem.smallest_class >= 2:
                found.append((problem, best))
    return found


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.id)
def test_every_method(solver: Solver, shape: str) -> None:
    """Tests that exact methods find the optimum, ratios hold, and no bound is above it."""
    met = 0
    for problem, best in problems(shape):
        try:
            solved = solve(problem, solver)
        except OutOfScopeError:
            continue
        assert solved.bound <= best <= solved.cost
        assert solver.guarantee != "exact" or solved.bound == best == solved.cost
        if isinstance(solver, Forest):
            k = problem.smallest_class
            assert solved.cost <= max(2 * k - 1, 3 * k - 5) * best
        if solved.prices is not None:
            assert solved.prices.bound(problem.instance.counts) <= best
        met += 1
    # Rows told apart have a column more, so two-columns serves hardly any.
    others = ("two-diversity", "closeness-milp", "two-columns")
    flat = shape == "trees" and not solver.scope.hierarchies
    assert met or shape == "sensitive" or flat or solver.id in others


def test_prices_and_deletions() -> None:
    """Tests the price bound alone, and deletions, on such tables."""
    for plain, rng in tables(10, 14, SHAPES["copies"]):
        instance = with_leaf_costs(plain, rng)
        k = int(rng.integers(2, 4))
        best = optimum(instance, KAnonymity(k))
        if best is None:
            continue
        assert best_prices(instance, k).bound(instance.counts) <= best
        price = int(rng.integers(1, 2 + sum(tree.dearest for tree in instance.trees)))
        fewest = optimum_deleting(instance, KAnonymity(k), price, 2)
        for method in ("subset-dp", "pattern-milp", "engine"):
            found, cost = solve_deleting(
                Problem(instance, KAnonymity(k)), Deletion(price, 2), method
            )
            assert fewest is not None and found.bound <= fewest <= cost
            assert method == "engine" or found.bound == cost


def test_classes_of_one_row() -> None:
    """Tests k = 1, other models that allow such classes, and kernels that know no such costs."""
    plain, _ = next(iter(tables(3, 1, SHAPES["sensitive"])))
    costly = [replace(tree, cost=np.maximum(tree.cost, 1)) for tree in plain.trees]  # pyright: ignore
    instance = replace(plain, trees=tuple(costly))
    solved = solve(Problem(instance, KAnonymity(1)))
    assert solved.cost == solved.bound == instance.rows * instance.columns
    with pytest.raises(OutOfScopeError, match="k ≥ 2"):
        solve(Problem(instance, TCloseness(1)))
    with pytest.raises(OutOfScopeError, match="though they stay"):
        _ = instance.tables


FRAME = pl.DataFrame({"a": ["x", "x", "y", "y", "z", "z"] * 4, "b": list("ppqqrrpqrpqr") * 2})
COSTS = "x;0.25\ny;0\nz;0.5\nlow;0.75\n*;1\n"
TREE = "x;low;*\ny;low;*\nz;z;*\n"


MORE = [[], ["--delete-rows", "price=0.7"], ["--method", "engine"]]
LAWS = [["--l", "2"], ["--l", "2", "--l-kind", "frequency", "--method", "engine"]]


@pytest.mark.parametrize("more", MORE + LAWS)
def test_proof(more: list[str], tmp_path: Path) -> None:
    """Tests that the checker counts such costs, and confirms the bound."""
    names = ("i.csv", "o.csv", "p", "costs", "tree.csv")
    original, release, proof, costs, tree = (tmp_path / name for name in names)
    FRAME.with_columns(s=FRAME["b"].shuffle(4)).write_csv(original)
    costs.write_text(COSTS)
    tree.write_text(TREE)
    policy = tmp_path / "policy.toml"
    roles = 'k = 3\nqi = ["a", "b"]\nsensitive = "s"\n'
    policy.write_text(f'{roles}[hierarchies]\na = "tree.csv"\n[cost]\na = "costs"\n')
    words = ["anonymize", str(original), "-o", str(release), "--policy", str(policy), "--json"]
    run = CliRunner().invoke(cli, [*words, "--proof", str(proof), "-q", *more])
    assert run.exit_code == 0, (run.output, run.exception)
    record = json.loads(run.output.splitlines()[0])
    pays = dict(line.split(";") for line in COSTS.split())
    released = pl.read_csv(release)
    paid = sum(float(pays[cell]) for cell in released["a"]) + (released["b"] == "*").sum()
    gone = FRAME.height - released.height
    assert record["cost"] == pytest.approx(paid + 0.7 * gone)
    verdict = check(release, original, proof)
    assert verdict.accepted, verdict
    assert verdict.facts["costs"]["a"]["rule"] == "listed" and verdict.facts["bound"] > 0
    least = sum(float(pays[cell]) for cell in FRAME["a"])
    assert more[:1] == ["--delete-rows"] or record["lower_bound"] >= least


def test_combinations(tmp_path: Path) -> None:
    """Tests combinations of columns with such costs: of one row, too, which stays as it is."""
    (tmp_path / "costs").write_text("x;0.25\ny;0\nz;0.5\n*;1\n")
    cost, stay = {"a": str(tmp_path / "costs")}, 8 * 0.25 + 8 * 0.5
    for k, stars in ((1, 0), (9, 24)):
        release = ic.anonymize(FRAME, protect=[f"a:{k}"], cost=cost, keep="b")
        assert release.cost == release.lower_bound == (stars or stay)


def test_all_rows_as_they_are(tmp_path: Path) -> None:
    """Tests k = 1 with such costs: nothing changes, and the checker confirms what that costs."""
    FRAME.write_csv(tmp_path / "i.csv")
    (tmp_path / "costs").write_text("x;0.25\ny;0\nz;0.5\n*;1\n")
    release = ic.anonymize(tmp_path / "i.csv", k=1, cost={"a": str(tmp_path / "costs")})
    assert release.changed_cells == 0 and release.status == "optimal"
    assert release.cost == 8 * 0.25 + 8 * 0.5
    release.write_proven(tmp_path / "o.csv", tmp_path / "p", original=tmp_path / "i.csv")
    verdict = check(tmp_path / "o.csv", tmp_path / "i.csv", tmp_path / "p")
    assert verdict.accepted and verdict.facts["bound"] == verdict.facts["cost"]


GIVEN = [{"fixed": ["b"]}, {"linked": [["a", "b"]]}, {"caps": {"b": 0.5}}]


@pytest.mark.parametrize("given", GIVEN)
def test_refused_with_constraints(given: dict[str, Any], tmp_path: Path) -> None:
    """Tests that constraints are refused by name beside such costs."""
    (tmp_path / "costs").write_text("x;0.25\ny;0\nz;0.5\n*;1\n")
    with pytest.raises((OutOfScopeError, InputError), match="though they stay"):
        ic.anonymize(FRAME, k=2, cost={"a": str(tmp_path / "costs")}, **given)


def test_other_ways_are_refused(tmp_path: Path) -> None:
    """Tests that where such costs are not served they are refused, not taken for 0."""
    (tmp_path / "costs").write_text("x;0.25\ny;0\nz;0.5\n*;1\n")
    cost = {"a": str(tmp_path / "costs")}
    with pytest.raises(OutOfScopeError, match="though they stay"):
        ic.anonymize(FRAME, k=2, cost=cost, existing=ic.anonymize(FRAME, k=2).data)
    people = FRAME.with_columns(p=pl.Series(map(str, range(FRAME.height))), s=FRAME["b"])
    asked = {"qi": ["a", "b"], "sensitive": "s", "person": "p", "cost": cost}
    with pytest.raises(OutOfScopeError, match="though they stay"):
        ic.republish(people, history=tmp_path / "history", m=2, **asked)
    with pytest.raises(OutOfScopeError, match="k ≥ 2"):
        ic.frontier(FRAME, [1, 2], cost=cost)


def test_frontier(tmp_path: Path) -> None:
    """Tests that points are those of single releases, also where no small exact method is."""
    (tmp_path / "costs").write_text("x;0.25\ny;0\nz;0.5\n*;1\n")
    rng = np.random.default_rng(8)
    columns = {"a": rng.choice(list("xyz"), 60).tolist(), "b": rng.integers(0, 9, 60).astype(str)}
    frame = pl.DataFrame(columns | {"c": rng.integers(0, 5, 60).astype(str)})
    cost = {"a": str(tmp_path / "costs")}
    for point in ic.frontier(frame, [2, 3], cost=cost).points:
        release = ic.anonymize(frame, k=point.k, cost=cost)
        assert point.lower_bound <= release.cost and 0 < release.lower_bound <= point.cost
        kept = sum(release.data["a"] == "x") / 4 + sum(release.data["a"] == "z") / 2
        assert release.cost == kept + sum((release.data[c] == "*").sum() for c in "abc")
