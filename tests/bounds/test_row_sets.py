"""Tests of prices by sets of near rows against all sets of k copies."""

from collections.abc import Callable, Iterator
from itertools import combinations, pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from bounds.near_set_samples import UNIT, broken_sets, never
from dial import enough
from incrowd.bounds import wide
from incrowd.bounds.closed_sets import ClosedSets
from incrowd.bounds.neighbours import neighbour_prices
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import PriceBound, certify
from incrowd.bounds.prices import Prices
from incrowd.bounds.row_sets import sheet_of
from incrowd.bounds.support import support_prices
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.lattice.emission import new_sink
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance, from_codes
from incrowd.run.stop import Stop
from oracle import join_cost, optimum
from solvers.engine.engine_samples import KINDS, prices_hold, random_tables
from solvers.ranged_tables import ranged_tables


def drawn(
    seed: int, number: int, kind: str, columns: tuple[int, int] = (1, 6)
) -> Iterator[tuple[Instance, int, NDArray[np.int64], np.random.Generator]]:
    """Tables with a k, and prices in units of 1/UNIT some of which are too high."""
    for instance, rng in random_tables(seed, number, kind, (2, 10), columns):
        k = int(rng.integers(1, min(5, instance.rows + 1)))
        most = max(1, instance.worst_cost // instance.rows)
        yield instance, k, rng.integers(-1, UNIT * most + 2, instance.distinct), rng


def excess(instance: Instance, k: int, price: NDArray[np.int64], rows: list[int], cost: int) -> int:
    """By how much the dearest k copies of some rows are priced above what k times a cost is."""
    copies = np.repeat(price[rows], instance.counts[rows])
    return int(np.sort(copies)[::-1][:k].sum()) - k * UNIT * cost


def require_listed(instance: Instance, k: int, price: NDArray[np.int64], slack: int) -> int:
    """Require that what is listed breaks its inequality, the worst set too; return how many."""
    search, sink = ClosedSets(instance, k), new_sink(10_000, 50_000)
    search.slack = slack
    found, worst, joins = search.listed(price, UNIT, never, 1 << 40, sink), 0, set()
    assert found is not None
    for p in range(found):
        rows, cost = sink.rows[sink.offset[p] : sink.offset[p + 1]].tolist(), int(sink.cost[p])
        assert len({*rows}) == len(rows)
        assert join_cost(instance, instance.first_copy[rows].tolist()) <= cost
        above = excess(instance, k, price, rows, cost)
        assert above > 0
        worst = max(worst, above)
        joins.add((cost, *sorted(rows)))
    assert slack or len(joins) == found
    broken = [
        excess(instance, k, price, rows, join_cost(instance, instance.first_copy[rows].tolist()))
        for rows in map(list, broken_sets(instance, k, price, UNIT))
    ]
    assert worst == max(broken, default=0)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_listed_sets(kind: str) -> None:
    """Tests that sets that break their inequality are listed, the worst of all among them."""
    listed = 0
    for instance, k, price, _ in drawn(31, 150, kind):
        found = require_listed(instance, k, price, 0)
        assert require_listed(instance, k, price, int(price.max()) // 2) >= found
        listed += found
    assert listed > enough(150)


@pytest.mark.parametrize("kind", KINDS)
def test_lists_for_a_box(kind: str) -> None:
    """Tests that cheaper prices within the slack that break a set break one that is listed."""
    outcomes = set()
    for instance, k, price, rng in drawn(36, 150, kind):
        search, sink = ClosedSets(instance, k), new_sink(10_000, 50_000)
        search.slack = slack = max(1, int(price.max()) // 3)
        found = search.listed(price, UNIT, never, 1 << 40, sink)
        assert found is not None
        for _ in range(5):
            lower = price - rng.integers(0, slack + 1, instance.distinct)
            broken = bool(broken_sets(instance, k, lower, UNIT))
            ends = sink.offset[: found + 1].tolist()
            lists = [sink.rows[x:y].tolist() for x, y in pairwise(ends)]
            above = [
                excess(instance, k, lower, rows, cost)
                for rows, cost in zip(lists, sink.cost.tolist(), strict=False)
            ]
            shown = max(above, default=0) > 0
            assert shown == broken
            outcomes.add(broken)
    assert outcomes == {True, False}


def test_many_columns() -> None:
    """Tests columns in several machine words."""
    for seed, columns in enumerate((63, 64, 65, 130, 200)):
        rng = np.random.default_rng(seed)
        instance, _ = from_codes((rng.random((9, columns)) < rng.random(columns) / 2) * 1)
        price = rng.integers(0, UNIT * columns, instance.distinct)
        assert require_listed(instance, 3, price, 0)


def test_rows_that_bytes_do_not_tell_apart() -> None:
    """Tests columns of many values: nodes 256 apart have one last byte."""
    rng = np.random.default_rng(3)
    place = rng.integers(0, 3, (40, 9)) * 256
    codes = np.vstack([np.arange(700)[:, None].repeat(9, 1), place])  # so codes are their own ranks
    instance, _ = from_codes(codes)
    search, price = ClosedSets(instance, 2), np.full(instance.distinct, 9 * UNIT)
    assert len({*search.sheet.node[:, 0].tolist()}) == 700
    found = search.certified(price, UNIT, never)
    assert found is not None and (found < price).any()
    for a, b in combinations(range(instance.distinct), 2):
        if (instance.codes[a] == instance.codes[b]).any():
            copies = instance.first_copy[[a, b]].tolist()
            assert found[a] + found[b] <= 2 * UNIT * join_cost(instance, copies)


@pytest.mark.parametrize("kind", KINDS)
def test_certified_prices(kind: str) -> None:
    """Tests that prices are lowered until they hold, not at all if they do, and not too much."""
    lowered = kept = 0
    for instance, k, price, _ in drawn(32, 150, kind):
        found = ClosedSets(instance, k).certified(price, UNIT, never)
        assert found is not None and (found <= price).all()
        assert not broken_sets(instance, k, found, UNIT) and prices_hold(instance, k, found, UNIT)
        if not broken_sets(instance, k, price, UNIT):
            assert (found == price).all()
            kept += 1
        lowered += (found < price).any()
    assert lowered and kept


@pytest.mark.parametrize("kind", KINDS)
def test_neighbours(kind: str) -> None:
    """Tests the cost of the join with the (k−1)-st nearest copy, and that these prices hold."""
    for instance, rng in random_tables(33, 80, kind, (2, 10)):
        k = int(rng.integers(1, min(5, instance.rows + 1)))
        price = neighbour_prices(sheet_of(instance), k, never)
        assert price is not None and prices_hold(instance, k, price, 1)
        for r, copy in enumerate(instance.first_copy[:-1].tolist()):
            pays = sorted(join_cost(instance, (copy, other)) for other in range(instance.rows))
            assert price[r] == pays[k - 1]


@pytest.mark.parametrize("kind", KINDS)
def test_prices_of_rows(kind: str) -> None:
    """Tests neighbours ≤ bound ≤ optimum, and that the prices hold for all patterns."""
    raised = 0
    for instance, rng in random_tables(34, 20, kind, (4, 9), (2, 6)):
        k = int(rng.integers(2, 5))
        found, better = wide.row_prices(instance, k, Stop())
        weakest = neighbour_prices(sheet_of(instance), k, never)
        best = optimum(instance, KAnonymity(k))
        if best is None or weakest is None or not weakest.any():
            assert found is None or not found.bound(instance.counts)
            continue
        assert found is not None and found.by_rows
        assert prices_hold(instance, k, found.price, found.quantum)
        assert weakest @ instance.counts <= found.bound(instance.counts) <= best
        raised += better
    assert raised > enough(3)


def test_as_good_as_prices_of_patterns() -> None:
    """Tests that both searches end at nearly the same bound: they obey the same inequalities."""
    for seed in range(2):
        instance, _ = from_codes(np.random.default_rng(seed).integers(0, 3, (60, 7)))
        tree = PrefixTree(instance)
        start, _ = support_prices(tree, 4)
        patterns = certify(tree, 4, PriceBound().ascend(tree, 4, start.astype(np.float64)))
        found, _ = wide.row_prices(instance, 4, Stop())
        assert found is not None
        bounds = [one.total(instance.counts) / one.quantum for one in (found, patterns)]
        assert bounds[0] == pytest.approx(bounds[1], rel=0.01)


def after(calls: int) -> Callable[[Stop], bool]:
    """Stop when it was asked so many times."""
    left = [calls]

    def now(_: Stop) -> bool:
        left[0] -= 1
        return left[0] < 0

    return now


def test_a_run_that_is_ended_never_promises_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests prices and reports of runs that are stopped after any number of looks at the clock."""
    monkeypatch.setattr("incrowd.bounds.row_sets.PIECE", 10)
    instance, _ = from_codes(np.random.default_rng(1).integers(0, 3, (9, 8)))
    best, bounds = optimum(instance, KAnonymity(3)), set()
    assert best is not None
    for calls in (*range(0, 60, 7), 100, 200, 400, 1000, 10**6):
        told: list[tuple[float, float]] = []
        report = lambda *one, told=told: told.append(one)  # noqa: E731
        with pytest.MonkeyPatch.context() as ended:
            ended.setattr(Stop, "now", after(calls))
            prices = wide.wide_prices(instance, 3, Stop(), 1.0, report)
        bound = prices.bound(instance.counts)
        assert prices_hold(instance, 3, prices.price, prices.quantum)
        assert bound <= best and all(one <= bound for one, _ in told)
        bounds.add(bound)
    assert len(bounds) > 1


@pytest.mark.parametrize("steps", [0, 100, 3000])
def test_a_search_that_is_too_long_is_given_up(steps: int, monkeypatch) -> None:
    """Tests that tables whose sets are too many are priced by groups of columns, or partly."""
    codes = np.random.default_rng(2).integers(0, 2, (40, 12))
    instance, _ = from_codes(codes)
    monkeypatch.setattr(wide, "LONG", max(1, steps))
    prices: Prices = wide.wide_prices(instance, 4, Stop())
    assert prices_hold(instance, 4, prices.price, prices.quantum)
    assert prices.bound(instance.counts) > 0


@pytest.mark.parametrize("most", [False, True])
def test_ranges(most: bool) -> None:
    """Tests what sets cost of columns with intervals, prices that hold, and the bound.

    With a widest interval sets may seem cheaper than they are: prices hold all the more.
    """
    cheaper = raised = 0
    for instance, rng in ranged_tables(37 + most, 18, (3, 8), most):
        k = int(rng.integers(2, min(4, instance.rows + 1)))
        sheet = sheet_of(instance)
        for copies in combinations(range(instance.rows), k):
            rows = instance.copies[list(copies)]
            hidden = (sheet.node[rows] != sheet.node[rows[0]]).any(axis=0)
            costs = {int(sheet.weight[r][hidden].sum()) for r in rows}
            assert max(costs) <= join_cost(instance, copies)
            if all(t.straight for t in instance.trees if isinstance(t, RangeFamily)):
                assert costs == {join_cost(instance, copies)}
            cheaper += max(costs) < join_cost(instance, copies)
        found, better = wide.row_prices(instance, k, Stop())
        best = optimum(instance, KAnonymity(k))
        if found is not None and best is not None:
            assert not broken_sets(instance, k, found.price, found.quantum)
            assert found.bound(instance.counts) <= best
            raised += better
    assert bool(cheaper) == most and raised > 1
