"""Tests of every method on tables whose rows may be deleted, against all partitions."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from dial import crossed, enough
from incrowd.bounds.deletion import bound_of, deletion_prices
from incrowd.bounds.prices import Prices, WeightedSet
from incrowd.deletion import search, solving
from incrowd.deletion.found import DELETED, Found
from incrowd.deletion.search import saves_little
from incrowd.deletion.solving import folded, solve_deleting
from incrowd.driver.solve import solve
from incrowd.errors import NoLawfulReleaseError, OutOfScopeError
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.deletion import Deletion
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.approx.forest import Forest
from incrowd.solvers.base import Context
from incrowd.solvers.catalog import SOLVERS, deletes
from oracle import join_cost, optimum_deleting
from solvers.small_tables import Shape, tables

SHAPES = {
    "suppression": Shape(rows=(3, 8)),
    "trees and weights": Shape(rows=(3, 8), trees=True, values=(2, 6)),
    "many copies": Shape(rows=(5, 9), columns=(1, 3), values=(2, 3)),
}
LIMITED = ("subset-dp", "pattern-milp", "engine")


def asked(instance: Instance, rng: np.random.Generator) -> tuple[int, Deletion]:
    """A k, a price below, at or above a row of stars, and a limit or none."""
    whole = sum(tree.dearest for tree in instance.trees)
    price = int(rng.integers(1, whole + 3))
    most = None if rng.random() < 0.4 else int(rng.integers(0, 4))
    return int(rng.integers(2, 4)), Deletion(price, most)


def counted(problem: Problem, classes: np.ndarray, deletion: Deletion) -> int:
    """The cost by the oracle's own joins; classes have k rows, and no row too many is deleted."""
    gone = int((classes == DELETED).sum())
    assert deletion.most is None or gone <= deletion.most
    total = deletion.price * gone
    for number in np.unique(classes[classes != DELETED]):
        copies = tuple(np.flatnonzero(classes == number).tolist())
        assert len(copies) >= problem.smallest_class
        total += len(copies) * join_cost(problem.instance, copies)
    return total


@pytest.mark.parametrize(("shape", "method"), crossed(SHAPES, LIMITED))
def test_against_all_partitions(method: str, shape: str) -> None:
    """Tests that exact methods find the optimum, and that no bound is above it."""
    met = 0
    for instance, rng in tables(28, 10, SHAPES[shape]):
        k, deletion = asked(instance, rng)
        if instance.rows < k:
            continue
        most = instance.rows if deletion.most is None else deletion.most
        best = optimum_deleting(instance, KAnonymity(k), deletion.price, most)
        problem = Problem(instance, KAnonymity(k))
        if best is None:
            continue
        found, cost = solve_deleting(problem, deletion, method)
        assert cost == counted(problem, found.classes, deletion)
        assert found.bound <= best <= cost
        assert method == "engine" or found.bound == best == cost
        met += 1
    assert met > enough(7)


@pytest.mark.parametrize(
    "method", ["simplex-matching", "forest", "split-recursion", "subset-convolution", "mondrian"]
)
def test_folded_tables(method: str) -> None:
    """Tests other methods on k tables in one: the optimum, or within their ratio of it."""
    met = 0
    for instance, rng in tables(29, 10, Shape(rows=(3, 8), columns=(1, 4), trees=True)):
        k = 2 if method == "simplex-matching" else int(rng.integers(2, 4))
        price = int(rng.integers(1, sum(tree.dearest for tree in instance.trees) + 3))
        best = optimum_deleting(instance, KAnonymity(k), price, instance.rows)
        if best is None or (
            method.startswith("s") and method != "simplex-matching" and k * instance.distinct > 14
        ):
            continue
        problem, deletion = Problem(instance, KAnonymity(k)), Deletion(price)
        try:
            found, cost = solve_deleting(problem, deletion, method)
        except NoLawfulReleaseError:
            assert method in ("forest", "mondrian")
            continue
        assert cost == counted(problem, found.classes, deletion)
        assert found.bound <= best <= cost
        if method == "forest":
            assert cost <= max(2 * k - 1, 3 * k - 5) * best
        elif method != "mondrian":
            assert found.bound == best == cost
        met += 1
    assert met > enough(4)


def test_optimum_of_folded_tables() -> None:
    """Tests the claim of ``deletion.folded``: the optimum is k times that with deletions."""
    for instance, rng in tables(30, 15, Shape(rows=(2, 6), columns=(1, 4), trees=True)):
        k = int(rng.integers(2, 4))
        if instance.rows < k or k * instance.rows > 12:
            continue
        price = int(rng.integers(1, 2 + sum(tree.dearest for tree in instance.trees)))
        best = optimum_deleting(instance, KAnonymity(k), price, instance.rows)
        larger = solve(folded(Problem(instance, KAnonymity(k)), price), "subset-dp")
        everything = price * instance.rows
        assert larger.cost == k * (everything if best is None else best)


def test_prices_bound_every_release() -> None:
    """Tests prices alone, of any kind: what deletions save is never more than is taken off."""
    for instance, rng in tables(31, 22, Shape(rows=(3, 7), columns=(1, 4), trees=True)):
        k, deletion = asked(instance, rng)
        if instance.rows < k:
            continue
        most = instance.rows if deletion.most is None else deletion.most
        best = optimum_deleting(instance, KAnonymity(k), deletion.price, most)
        best = deletion.price * instance.rows if best is None else best
        prices, _ = deletion_prices(instance, k, deletion)
        assert bound_of(prices, instance, deletion) <= best
        free, _ = deletion_prices(instance, k, Deletion(10**6, 0))
        assert bound_of(free, instance, deletion) <= best


def test_odd_sets_are_no_prices_with_deletions() -> None:
    """Tests that a bound which would not hold is not computed."""
    instance, _ = from_codes(np.array([[0], [0], [1]]))
    odd = Prices(np.zeros(2, np.int64), 1, odd_sets=(WeightedSet(np.arange(3), 1),))
    with pytest.raises(ValueError, match="odd sets"):
        bound_of(odd, instance, Deletion(1))


def test_as_dear_as_stars_saves_little() -> None:
    """Tests that at the price of its stars a deletion saves only where fewer than k are left."""
    instance, _ = from_codes(np.array([[0, 0], [0, 0], [0, 0], [1, 1]]))
    problem = Problem(instance, KAnonymity(2))
    found, cost = solve_deleting(problem, Deletion(2))
    assert cost == found.bound == 2 and (found.classes == DELETED).sum() == 1
    assert solve(problem).cost == 4


def test_refused() -> None:
    """Tests what is refused, each by name."""
    plain, _ = from_codes(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
    problem = Problem(plain, KAnonymity(2))
    with pytest.raises(OutOfScopeError, match="most"):
        solve_deleting(problem, Deletion(2, 1), Forest())
    with pytest.raises(NoLawfulReleaseError, match="every row"):
        solve_deleting(problem, Deletion(0))
    with pytest.raises(NoLawfulReleaseError, match="k = 5"):
        solve_deleting(Problem(plain, KAnonymity(5)), Deletion(2))


def test_pairs_by_default() -> None:
    """Tests that k = 2 is solved to the end, and that a limit which binds is kept."""
    rng = np.random.default_rng(6)
    instance, _ = from_codes(rng.integers(0, 5, (60, 4)))
    problem = Problem(instance, KAnonymity(2))
    free, cost = solve_deleting(problem, Deletion(2))
    assert free.method == "simplex-matching" and free.bound == cost
    gone = int((free.classes == DELETED).sum())
    assert gone > 2
    same, again = solve_deleting(problem, Deletion(2, gone))
    assert same.bound == again == cost
    less, dearer = solve_deleting(problem, Deletion(2, gone // 2))
    assert dearer == counted(problem, less.classes, Deletion(2, gone // 2)) >= less.bound >= cost
    assert solve(problem, "simplex-matching").cost >= dearer


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("most", [None, 0, 8])
def test_cut_short_it_costs_no_more_than_a_release_of_all_rows(k: int, most: int | None) -> None:
    """Tests that a run without time begins from what it would do without deletions."""
    rng = np.random.default_rng(7)
    instance, _ = from_codes(rng.zipf(1.6, (400, 5)) % 9)
    problem, deletion = Problem(instance, KAnonymity(k)), Deletion(5, most)
    stop = Stop()
    stop.interrupt()
    plain = solve(problem, "engine", Context(stop=stop))
    found, cost = solve_deleting(problem, deletion, context=Context(stop=stop))
    assert cost == counted(problem, found.classes, deletion) <= plain.cost


def test_rows_as_dear_as_stars_save_little() -> None:
    """Tests the lemma by which the release of all rows gets nearly all of a time limit.

    Its cheapest one pays less than 2k rows of stars more; such a release is found wherever one
    with deletions is, and of many rows this is next to nothing.
    """
    saved = 0
    for instance, _ in tables(12, 34, Shape(rows=(5, 9), columns=(2, 3), values=(2, 4))):
        problem, root = Problem(instance, KAnonymity(2)), sum(t.dearest for t in instance.trees)
        everyone = solve(problem, "subset-dp").cost
        _, cost = solve_deleting(problem, Deletion(root), "subset-dp")
        assert cost <= everyone <= cost + 3 * root
        saved += cost < everyone
        assert not saves_little(problem, Deletion(root))  # so few rows
    assert saved
    many = Problem(from_codes(np.zeros((300, 2), np.int64))[0], KAnonymity(2))
    assert saves_little(many, Deletion(2)) and not saves_little(many, Deletion(1))
    assert not saves_little(replace(many, model=KAnonymity(3)), Deletion(2))


def test_matching_that_is_cut_short_leaves_its_time_to_the_engine(monkeypatch) -> None:
    """Tests that a release which is not proven is not all that a time limit is used for."""
    rng = np.random.default_rng(7)
    instance, _ = from_codes(rng.zipf(1.6, (40, 5)) % 9)
    problem, deletion = Problem(instance, KAnonymity(2)), Deletion(3)
    poor = np.where(np.arange(40) < 2, DELETED, 0)

    def cut(problem: Problem, deletion: Deletion, method: str, context: Context) -> Found:
        context.stop.halt()
        return Found(poor, 0, "simplex-matching", "time limit")

    monkeypatch.setattr(solving, "by_folding", cut)
    found, cost = solve_deleting(problem, deletion, context=Context(stop=Stop(60)))
    assert cost < counted(problem, poor, deletion) and found.method == "engine"


def test_the_engine_deletes_no_more_than_asked() -> None:
    """Tests limits on a table that is too large for exact methods: bounds rise as limits fall."""
    rng = np.random.default_rng(5)
    instance, _ = from_codes(rng.integers(0, 3, (60, 5)))
    problem = Problem(instance, KAnonymity(4))
    costs, bounds = [], []
    for most in (0, 3, None):
        found, cost = solve_deleting(problem, Deletion(3, most), "engine", Context(seed=1))
        assert cost == counted(problem, found.classes, Deletion(3, most)) >= found.bound > 0
        costs.append(cost)
        bounds.append(found.bound)
    assert bounds == sorted(bounds, reverse=True)
    assert costs[-1] < costs[0] and all(c <= 1.15 * b for c, b in zip(costs, bounds, strict=True))


@pytest.mark.parametrize(
    ("limit", "loose", "stages"),
    [
        (None, False, ["dealt", "again", "by_blocks"]),
        (None, True, ["dealt", "traded", "by_blocks"]),
        (1e6, False, ["dealt", "again", "by_blocks"]),
        (1e6, True, ["by_blocks"]),
    ],
)
def test_what_was_done_for_all_rows_is_not_done_again(
    monkeypatch: pytest.MonkeyPatch, limit: float | None, loose: bool, stages: list[str]
) -> None:
    """Tests the stages where prices miss what a release needs, and where they do not."""
    called: list[str] = []
    problem = Problem(
        from_codes(np.random.default_rng(3).integers(0, 3, (40, 4)))[0], KAnonymity(4)
    )
    whole = np.arange(40) // 4
    for name in ("dealt", "traded", "again", "by_blocks"):
        monkeypatch.setattr(search, name, lambda *asked, own=name: called.append(own) or whole)
    monkeypatch.setattr(search, "plain", lambda *asked: (whole, None))
    monkeypatch.setattr(search, "loose", lambda *asked: loose)
    solve_deleting(problem, Deletion(4, 3), "engine", Context(stop=Stop(limit)))
    assert called == stages


def test_near_classes_trade_before_rows_are_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests rows near eleven others, whose prices are far too low."""
    rng = np.random.default_rng(3)
    centre = rng.integers(0, 3, (6, 12)).repeat(12, 0)
    near = np.where(rng.random(centre.shape) < 0.08, rng.integers(0, 3, centre.shape), centre)
    monkeypatch.setattr(search, "by_blocks", lambda problem, classes, *asked: classes)
    monkeypatch.setattr(search, "again", lambda *asked: pytest.fail("prices are sought anew"))
    deletion, problem = Deletion(5, 6), Problem(from_codes(near)[0], KAnonymity(5))
    found, cost = solve_deleting(problem, deletion)
    dealt, _ = search.plain(problem, "engine", Context(), 1.0)
    assert found.bound <= cost == counted(problem, found.classes, deletion)
    assert cost < 0.8 * counted(problem, dealt, deletion)


def test_methods_delete_as_they_are_listed() -> None:
    """Tests that each method deletes rows of two columns exactly where the list says so."""
    instance, _ = from_codes(np.array([[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [1, 1]]))
    for solver in SOLVERS:
        for columns, said in ((1, "any number of rows"), (2, "any number of rows")):
            table, _ = from_codes(instance.codes[instance.copies][:, :columns])
            k = 3 if "3" in solver.scope.models[0] else 2
            says = deletes(solver).startswith(said)
            if columns == 2 and deletes(solver).endswith("of one column"):
                says = False
            try:
                found, _ = solve_deleting(Problem(table, KAnonymity(k)), Deletion(1), solver)
            except OutOfScopeError:
                assert not says, solver.id
            except NoLawfulReleaseError:
                assert says, solver.id
            else:
                assert says and found.bound >= 0, solver.id


def test_all_rows_cheaper_to_delete_than_the_limit_allows() -> None:
    """Tests k = 2, where to delete all rows costs least, and at most four of them may be."""
    frame = pl.DataFrame({"a": [f"x{i}" for i in range(24)], "b": [str(i % 4) for i in range(24)]})
    with pytest.raises(NoLawfulReleaseError, match="less than to delete every row"):
        ic.anonymize(frame, k=2, delete_rows="price=1/2")
    release = ic.anonymize(frame, k=2, delete_rows="price=1/2,most=4")
    assert release.rows >= 20 and release.lower_bound <= 22 <= release.cost
    told = "whole table as one class breaks .*; rows are deleted of tables"  # others may obey it
    with pytest.raises(NoLawfulReleaseError, match=told):
        ic.anonymize(frame, k=2, qi="a", sensitive="b", l=5, delete_rows="price=9")
