"""Tests of bounds of an m-invariant next release: too dear sets, and prices of some people."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from dial import few
from incrowd.hierarchy.tree import Tree
from incrowd.problem.instance import tables_of
from incrowd.run.stop import Stop
from incrowd.series import bound
from incrowd.series.dear_sets import KEPT, Signed, WholePrices
from series.test_series import VALUES, State, cheapest
from solvers.small_tables import random_tree

M = 3
TREES = [Tree.suppression(name, ("0", "1", "2")) for name in ("x", "y")]


def others(value):
    """The values of the tests but one."""
    return [v for v in VALUES[:4] if v != value]


def excess(one, rows, prices, leaves, trees):
    """By how much the survivors at these places (−1: none) are too dear, as the claim says."""
    there = [row for row in rows if row >= 0]
    low, high = leaves[there].min(axis=0), leaves[there].max(axis=0)
    joins = (
        tree.join_costs(*(np.array([x[j]]) for x in (low, high))) for j, tree in enumerate(trees)
    )
    each = sum(int(cost[0]) for cost in joins) * prices.unit
    empty = [prices.n[v] for v, row in zip(one.values, rows, strict=True) if row < 0]
    places = sum(min(each + int(n), prices.c) for n in empty)
    return int(prices.u[there].sum()) - len(there) * each - places


def test_the_search_finds_all_sets_that_are_too_dear() -> None:
    """Tests the dearest sets of each first survivor, and how far prices fall, against all sets."""
    met = 0
    rng = np.random.default_rng(5)
    for _ in range(few(150)):
        values, columns = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        sizes = rng.integers(0, 5, values)
        if not sizes.sum():
            continue
        order = rng.permutation(int(sizes.sum()))
        members = np.split(order, np.cumsum(sizes)[:-1])
        trees = [random_tree(f"q{j}", 5, rng) for j in range(columns)]
        leaves = rng.integers(0, 5, (len(order), columns)).astype(np.int32)
        one = Signed(members, rng.permutation(6)[:values].astype(np.int64))
        unit = int(rng.choice([1, 7]))
        u = rng.integers(-1, 4 * unit, len(order))
        prices = WholePrices(u, rng.integers(0, 3 * unit, 6), int(rng.integers(0, 5 * unit)), unit)
        slack = int(rng.integers(0, 3))
        found = one.too_dear(prices, leaves, tables_of(trees), slack)
        assert found is not None
        fall, worth = np.zeros_like(u), {}
        for rows in product(*([-1, *own.tolist()] for own in members)):
            if max(rows) < 0:
                continue
            over = excess(one, rows, prices, leaves, trees)
            if over > slack:
                there = [row for row in rows if row >= 0]
                fall[there] = np.maximum(fall[there], -(-over // len(there)))
                worth.setdefault(there[0], []).append(over)
        assert found.fall.tolist() == fall.tolist()
        kept = {}
        for rows, own in zip(found.rows.reshape(-1, values), found.worth.ravel(), strict=True):
            if own > slack:
                first = next(row for row in rows if row >= 0)
                assert excess(one, rows, prices, leaves, trees) == own
                kept.setdefault(int(first), []).append(int(own))
        dearest = {row: sorted(own, reverse=True)[:KEPT] for row, own in worth.items()}
        assert {row: sorted(own, reverse=True) for row, own in kept.items()} == dearest
        met += len(worth)
    assert met > few(150)


@pytest.mark.parametrize("at_once", [1000, 8, 3])
def test_no_release_costs_less(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the bound against all releases, priced together or signature by signature."""
    monkeypatch.setattr(bound, "FEW", at_once)
    rng = np.random.default_rng(7)
    met = 0
    for _ in range(few(60)):
        people = int(rng.integers(4, 10))
        leaves = rng.integers(0, 3, (people, 2)).astype(np.int32)
        values = [VALUES[i] for i in rng.integers(0, 4, people)]
        signature = [
            None if rng.random() < 0.2 else frozenset(VALUES[:4]) - {str(rng.choice(others(v)))}
            for v in values
        ]
        state: State = {f"P{i}": (*map(str, leaves[i]), v) for i, v in enumerate(values)}
        known = {f"P{i}": s for i, s in enumerate(signature) if s is not None}
        for fakes in (2 * people, 3):
            found = bound.least_cost(signature, values, leaves, TREES, fakes, Stop())
            try:
                best = cheapest(state, known, M, fakes)
            except ValueError:  # so few counterfeits are not enough
                continue
            assert found <= best
            met += found > 0
    assert met


def test_prices_are_the_best_that_the_claim_allows() -> None:
    """Tests the bound against the linear program of all sets with all kinds of places."""
    rng = np.random.default_rng(11)
    for _ in range(few(30)):
        people = int(rng.integers(12, 24))
        leaves = rng.integers(0, 5, (people, 2)).astype(np.int32)
        trees = [random_tree(f"q{j}", 5, rng) for j in range(2)]
        values = [VALUES[i] for i in rng.integers(0, 4, people)]
        signature = [
            None if rng.random() < 0.3 else frozenset(VALUES[:4]) - {str(rng.choice(others(v)))}
            for v in values
        ]
        fakes = int(rng.integers(0, people))
        best = of_all_sets(signature, values, leaves, trees, fakes)
        found = bound.least_cost(signature, values, leaves, trees, fakes, Stop())
        assert found <= np.ceil(best - 1e-6)
        assert found >= 0.99 * best - 1e-6


def of_all_sets(signature, values, leaves, trees, fakes):
    """The least cost of a mixture of sets, places and counterfeits."""
    survivors = [i for i, s in enumerate(signature) if s is not None]
    fresh = [
        sum(s is None and v == w for s, v in zip(signature, values, strict=True))
        for w in VALUES[:4]
    ]
    columns, costs = [], []
    for s in sorted({*signature} - {None}, key=sorted):
        names = sorted(s)
        members = [[i for i in survivors if signature[i] == s and values[i] == v] for v in names]
        for rows in product(*([-1, *own] for own in members)):
            there = [row for row in rows if row >= 0]
            if not there:
                continue
            low, high = leaves[there].min(axis=0), leaves[there].max(axis=0)
            each = sum(int(t.join_costs(low[[j]], high[[j]])[0]) for j, t in enumerate(trees))
            lacks = [VALUES.index(v) for v, row in zip(names, rows, strict=True) if row < 0]
            for new in product((0, 1), repeat=len(lacks)):
                column = np.zeros(len(survivors) + 5)
                column[[survivors.index(row) for row in there]] = 1
                for v, is_new in zip(lacks, new, strict=True):
                    column[len(survivors) + (v if is_new else 4)] += 1
                columns.append(column)
                costs.append((len(there) + sum(new)) * each)
    # as in the claim's prices, nobody has to stand anywhere at a price beyond all others
    own, dear = len(survivors), 8 * sum(t.dearest for t in trees) + 1
    columns += [*np.eye(own + 5)[:own]]
    matrix = np.array(columns).T
    found = linprog(
        [*costs, *[dear] * own], matrix[own:], [*fresh, fakes], matrix[:own], np.ones(own)
    )
    return found.fun


def test_signatures_of_too_many_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the bound stays true, and lower, where there is too much to look at."""
    rng = np.random.default_rng(9)
    tree = [random_tree(f"q{j}", 5, rng) for j in range(3)]
    leaves = rng.integers(0, 5, (90, 3)).astype(np.int32)
    values = [VALUES[i % 3] for i in range(90)]
    signature = [frozenset(VALUES[:3])] * 90
    asked = signature, values, leaves, tree, 0
    whole = bound.least_cost(*asked, Stop())
    assert whole > 0
    for name, most in (("MANY", 89), ("JOINS", 5)):
        with monkeypatch.context() as patch:
            patch.setattr(bound, name, most)
            assert bound.least_cost(*asked, Stop()) == 0
    late = Stop()
    late.interrupt()
    assert 0 <= bound.least_cost(*asked, late) <= whole
