"""Tests of the whole engine, of its proof and of its wide fallback, against brute force."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.support import support_prices
from incrowd.hierarchy.tree import Tree
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context, Outcome
from incrowd.solvers.engine.anneal import Annealing
from incrowd.solvers.engine.engine import Engine
from incrowd.solvers.engine.prove import prove
from incrowd.solvers.engine.windows import sorted_classes, window_emission
from incrowd.solvers.exact.subset_dp import SubsetDP
from oracle import join_cost, optimum
from solvers.engine.engine_samples import (
    KINDS,
    lawful,
    naive_cost,
    node_tuples,
    prices_hold,
    random_tables,
)

QUICK = Annealing(moves=20)


def run(instance: Instance, k: int, engine: Engine | None = None, seed: int = 0) -> Outcome:
    """Run the engine, quickly unless told otherwise."""
    engine = engine or Engine(annealing=QUICK)
    return engine.run(Problem(instance, KAnonymity(k)), Context(seed=seed))


def check(instance: Instance, k: int, outcome: Outcome, best: int) -> None:
    """The release is lawful and counted right; bound and certificate are true."""
    solution, prices = outcome.solution, outcome.prices
    assert solution is not None and prices is not None
    assert lawful(solution, k)
    assert naive_cost(solution) == solution.cost
    assert outcome.bound <= best <= solution.cost
    assert prices_hold(instance, k, prices.price, prices.quantum)
    assert prices.bound(instance.counts) <= outcome.bound
    if outcome.ended == "finished":
        assert outcome.bound == solution.cost


@pytest.mark.parametrize("kind", KINDS)
def test_engine_against_the_oracle(kind: str) -> None:
    """Tests lawfulness, cost, bound and certificate on small tables of every kind, k = 1 to 5."""
    proven = number = 0
    for instance, rng in random_tables(21, 22, kind):
        k = int(rng.integers(1, 6))
        if instance.rows < k:
            continue
        best = optimum(instance, KAnonymity(k))
        assert best is not None
        outcome = run(instance, k, seed=number)
        check(instance, k, outcome, best)
        number += 1
        proven += outcome.ended == "finished"
    assert proven > 0.9 * number  # these tables are all within reach of a proof


@st.composite
def drawn(draw: st.DrawFn) -> tuple[Instance, int]:
    """A table and a k that hypothesis can shrink; sometimes with a tree of height 2."""
    columns, values = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    cell = st.integers(0, values - 1)
    row = st.lists(cell, min_size=columns, max_size=columns)
    rows = draw(st.lists(row, min_size=2, max_size=8))
    leaves = tuple(map(str, range(values)))
    trees = []
    for j in range(columns):
        weight, more = draw(st.integers(0, 5)), draw(st.integers(0, 3))
        middle = np.arange(values) >= draw(st.integers(0, values))
        middle = np.unique(middle, return_inverse=True)[1]
        node = np.vstack([np.arange(values), middle, np.zeros(values)]).astype(np.int32)
        cost = np.repeat(np.array([[0], [weight], [weight + more]]), values, axis=1)
        labels = (leaves, tuple(f"m{i}" for i in range(middle.max() + 1)), ("*",))
        trees.append(Tree(f"q{j}", labels, node, cost.astype(np.int64)))
    return from_codes(np.array(rows), tuple(trees))[0], draw(st.integers(2, min(5, len(rows))))


@settings(max_examples=few(20), deadline=None)
@given(drawn())
def test_engine_against_the_oracle_on_drawn_tables(case: tuple[Instance, int]) -> None:
    """Tests the same on tables that hypothesis draws: free columns and only children included."""
    instance, k = case
    best = optimum(instance, KAnonymity(k))
    assert best is not None
    check(instance, k, run(instance, k), best)


@pytest.mark.parametrize("kind", KINDS)
def test_proof_of_any_release(kind: str) -> None:
    """Tests that prove() finds the optimum and its bound from support prices and a poor release."""
    better = ties = 0
    for instance, rng in random_tables(22, 10, kind, (6, 13), (2, 5)):
        k = int(rng.integers(2, 5))
        problem = Problem(instance, KAnonymity(k))
        best = SubsetDP().run(problem, Context()).bound
        tree = PrefixTree(instance)
        price, _ = support_prices(tree, k)
        start = Solution.of(instance, sorted_classes(instance, k))
        floor = int(price @ instance.counts)
        found, bound = prove(
            tree, start, price.astype(np.float64), floor, k, stop=Stop(100.0), patient=False
        )
        assert lawful(found, k) and naive_cost(found) == found.cost
        assert found.cost == bound == best
        better += found.cost < start.cost
        again, still = prove(tree, found, price.astype(np.float64), floor, k, Stop(100.0), False)
        ties += floor < best
        assert again.cost == still == best
    assert better and ties  # both ways through the proof were taken


@pytest.mark.parametrize("kind", KINDS)
def test_wide_fallback_against_the_oracle(kind: str) -> None:
    """Tests lawfulness and bound when the table counts as too wide to enumerate."""
    for number, (instance, rng) in enumerate(random_tables(23, 10, kind)):
        k = int(rng.integers(1, 6))
        if instance.rows < k:
            continue
        best = optimum(instance, KAnonymity(k))
        assert best is not None
        check(instance, k, run(instance, k, Engine(annealing=QUICK, visits=1), number), best)


@pytest.mark.parametrize("kind", KINDS)
def test_windows_are_true_patterns(kind: str) -> None:
    """Tests that each window is a pattern at its right cost, with k copies that match it."""
    for instance, rng in random_tables(24, 36, kind, (3, 25), (1, 5)):
        k = int(rng.integers(1, 6))
        if instance.rows < k:
            continue
        emission = window_emission(instance, k, 3, seed=1)
        patterns = node_tuples(instance)
        for p, cost in enumerate(emission.cost.tolist()):
            rows = emission.rows[emission.offset[p] : emission.offset[p + 1]].tolist()
            assert len(set(rows)) == len(rows)
            assert instance.counts[rows].sum() >= k
            copies = tuple(int(instance.first_copy[r]) for r in rows)
            assert join_cost(instance, copies) == cost
            matching = [set(m) for m, c in patterns.items() if c == cost and set(rows) <= set(m)]
            assert matching


@pytest.mark.parametrize("kind", KINDS)
def test_sorted_classes_are_lawful(kind: str) -> None:
    """Tests the release that is there at once, and that rows with k copies stay as they are."""
    for instance, rng in random_tables(25, 60, kind, (1, 25), (1, 5)):
        k = int(rng.integers(1, 8))
        if instance.rows < k:
            continue
        solution = Solution.of(instance, sorted_classes(instance, k))
        assert lawful(solution, k)
        if (instance.counts >= k).all():
            assert solution.cost == 0


def test_sorted_classes_part_ranges_last() -> None:
    """Tests that rows near in a range are near in what else there is: stars only at two borders."""
    frame = pl.DataFrame({"x": range(90), "y": ["a", "b", "c"] * 30})
    release = ic.anonymize(frame, k=5, hierarchies={"x": "range"}, method="mondrian")
    instance = release.coded.instance
    at_once = Solution.of(instance, sorted_classes(instance, 5))
    assert at_once.cost < 25 * instance.scale  # 90 where each class has all three letters


def test_windows_end_when_time_is_up() -> None:
    """Tests that one order is always there, as without a limit, and no other once time is up."""
    for instance, _ in random_tables(39, 12, KINDS[0], (6, 41), (2, 5)):
        late = window_emission(instance, 3, 4, 5, Stop(time_limit=0))
        one = window_emission(instance, 3, 1, 5)
        assert late.rows.tolist() == one.rows.tolist()
        assert late.cost.tolist() == one.cost.tolist()
        soon = window_emission(instance, 3, 4, 5, Stop(time_limit=1000))
        assert soon.rows.tolist() == window_emission(instance, 3, 4, 5).rows.tolist()
        assert len(soon.cost) > len(one.cost)
