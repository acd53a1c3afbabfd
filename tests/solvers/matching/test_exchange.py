"""Tests of the polynomial algorithm alone: fast steps left out, or cut off at every place."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest
from brute import all_groups, padded, partition_cost
from tiny import random_table

from dial import enough, few
from incrowd.driver.solve import solve
from incrowd.kernels.halt import NEVER
from incrowd.linear.blossom import UNIT, perfect_matching
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.matching import exchange, pipeline
from incrowd.solvers.matching.exchange import Exchange, Offers, cheapest
from incrowd.solvers.matching.nodes import Nodes, costs_of, grid_of
from incrowd.solvers.matching.pipeline import Effort, match
from incrowd.solvers.matching.reduction import any_groups, two_anonymous, two_diverse
from incrowd.solvers.matching.solver import SimplexMatching, TwoDiversity
from incrowd.veil.matching import nodes_of
from oracle import optimum
from solvers.ranged_tables import ranged_tables

KINDS = ("suppression", "weights", "hierarchies")
NOTHING_FAST = Effort(rounds=0)


def proven(cost: np.ndarray) -> int:
    """The least cost of a perfect matching, with its proof checked by the definition."""
    found = perfect_matching(cost)
    assert found is not None
    n = len(cost)
    slack = UNIT * cost - found.price[:, None] - found.price[None, :]
    for odd_set, weight in zip(found.sets, found.weight, strict=True):
        assert len(odd_set) % 2 == 1 and weight > 0
        inside = np.isin(np.arange(n), odd_set)
        slack -= weight * (inside[:, None] ^ inside[None, :])
    assert (slack[~np.eye(n, dtype=bool)] >= 0).all()
    assert (found.mate[found.mate] == np.arange(n)).all() and (found.mate != np.arange(n)).all()
    twice = int(cost[np.arange(n), found.mate].sum())
    assert 2 * found.total == UNIT * twice
    return twice // 2


@pytest.mark.parametrize("most", [1, 3, 100])
def test_matchings_prove_themselves(most: int) -> None:
    """Tests that prices and odd sets are lawful and add up to the cost, with many ties or few."""
    rng = np.random.default_rng(most)
    nested = 0
    for case in range(few(90)):
        n = 2 * int(rng.integers(0, 15))
        if case % 2:
            cost = rng.integers(0, most + 1, (n, n))
        else:  # points in clusters of clusters, which make sets in sets
            point = 100 * rng.integers(0, 3, n) + 10 * rng.integers(0, 3, n) + rng.integers(0, 3, n)
            cost = abs(point[:, None] - point[None]) // (4 - min(most, 3))
        if case % 3 == 0:  # pairs that may not be taken
            cost = np.where(rng.random((n, n)) < 0.5, 1 + n * max(most, 250), cost)
        cost = np.triu(cost, 1)
        proven((cost + cost.T).astype(np.int64))
        found = perfect_matching((cost + cost.T).astype(np.int64))
        nested += found is not None and len(found.sets) > 1
    assert nested > enough(10)


def test_matchings_of_odd_tables_and_stops() -> None:
    """Tests that an odd number of vertices is refused, and that a written word ends the search."""
    with pytest.raises(ValueError, match="even"):
        perfect_matching(np.zeros((3, 3), np.int64))
    assert perfect_matching(np.ones((4, 4), np.int64), np.ones(1, np.int64)) is None
    assert perfect_matching(np.zeros((0, 0), np.int64), NEVER) is not None


def some_nodes(seed: int, cases: int, most: int) -> Iterator[Nodes]:
    """Nodes of random tables, with colors and without."""
    rng = np.random.default_rng(seed)
    for case in range(few(cases)):
        diverse = case % 2 == 1
        rows, values = int(rng.integers(2, most)), int(rng.integers(2, 6))
        instance, _ = random_table(rng, KINDS[case % 3], rows, sensitive=values * diverse)
        nodes = two_diverse(instance, 0) if diverse else two_anonymous(instance, 0)
        if nodes.size and (not diverse or 2 * np.bincount(nodes.grid.color).max() <= nodes.size):
            yield nodes


def test_exchange_finds_the_optimum() -> None:
    """Tests it against all partitions, from neighbours in the order of rows on."""
    met = 0
    for nodes in some_nodes(1, 150, 13):
        groups = cheapest(nodes, any_groups(nodes), Context())
        assert groups is not None
        assert sorted(groups[groups >= 0].tolist()) == list(range(nodes.size))
        best = partition_cost(nodes.size, all_groups(nodes))
        assert int(costs_of(nodes.grid, groups).sum()) == best
        met += 1
    assert met > enough(90)


def test_exchange_with_extras() -> None:
    """Tests nodes that pay lots beside, which break ties, against all partitions."""
    rng = np.random.default_rng(7)
    for _ in range(few(40)):
        codes = rng.integers(0, 3, (int(rng.integers(2, 10)), 4))
        lots = rng.integers(0, 50, codes.shape)
        nodes, _ = nodes_of(codes, np.zeros(codes.shape, bool), np.ones(4, np.int64), lots)
        groups = [g for k in (2, 3) for g in combinations(range(nodes.size), k)]
        cost = costs_of(nodes.grid, padded(groups))
        best = partition_cost(nodes.size, dict(zip(groups, cost.tolist(), strict=True)))
        found = match(nodes, any_groups(nodes), Context(), NOTHING_FAST)
        assert found.cost == found.bound == best


def test_exchange_of_ranges() -> None:
    """Tests the method with nothing fast on tables whose classes are shown as ranges."""
    for instance, _ in ranged_tables(12, 24, (4, 10), values=5, most=False):
        solved = solve(Problem(instance, KAnonymity(2)), SimplexMatching(effort=NOTHING_FAST))
        assert (solved.cost, solved.status) == (optimum(instance, KAnonymity(2)), "optimal")


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_fast_costs_the_same(kind: str) -> None:
    """Tests both methods with a budget of 0 against the oracle, and against the fast steps."""
    rng = np.random.default_rng(KINDS.index(kind))
    for case in range(few(36)):
        diverse = case % 2 == 1
        rows, values = int(rng.integers(2, 10)), int(rng.integers(2, 6))
        instance, _ = random_table(rng, kind, rows, sensitive=values * diverse)
        model = FrequencyDiversity(2) if diverse else KAnonymity(2)
        best = optimum(instance, model)
        if best is None:
            continue
        method = TwoDiversity if diverse else SimplexMatching
        for effort in (NOTHING_FAST, Effort()):
            solved = solve(Problem(instance, model), method(effort=effort))
            assert (solved.cost, solved.bound, solved.ended) == (best, best, "finished")


def test_what_the_fast_steps_leave_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests tables whose linear program is fractional: no cuts, no rounding, no branching."""
    called = []
    settle = pipeline.settle
    monkeypatch.setattr(pipeline, "cut", lambda *_: 0)
    monkeypatch.setattr(pipeline, "round_open", lambda *_: False)
    monkeypatch.setattr(pipeline, "complete", lambda *_: None)
    monkeypatch.setattr(pipeline, "settle", lambda run: (called.append(run.cost), settle(run)))
    better = 0
    for case, nodes in enumerate(some_nodes(3, 400, 13)):
        before = len(called)
        matching = match(nodes, any_groups(nodes), Context(seed=case), Effort(branches=0))
        assert matching.cost == matching.bound == partition_cost(nodes.size, all_groups(nodes))
        assert matching.certificate.bound <= matching.bound
        better += len(called) > before and called[-1] > matching.cost
    assert len(called) > enough(20) and better > enough(5)


def test_larger_tables_agree_with_the_fast_steps() -> None:
    """Tests tables of seventy rows that take many exchanges."""
    rng = np.random.default_rng(4)
    for _ in range(few(2, 1)):
        codes = rng.integers(0, 3, (70, 6)) * rng.integers(0, 2, (70, 6))
        problem = Problem(from_codes(codes)[0], KAnonymity(2))
        slow = solve(problem, SimplexMatching(effort=NOTHING_FAST))
        fast = solve(problem, SimplexMatching())
        assert slow.status == fast.status == "optimal" and slow.cost == fast.cost


def test_no_exchange_gains_more_than_it_says() -> None:
    """Tests what prices say of each exchange against matchings, and that none is forgotten."""
    rng = np.random.default_rng(5)
    taken = 0
    for _ in range(few(12)):
        codes = rng.integers(0, 3, (9, 4)) * rng.integers(0, 2, (9, 4))
        table, _ = from_codes(codes)
        search = Exchange(grid_of(table, table.copies), Context())
        at = search.priced(frozenset({(0, 1, 2), (3, 4, 5), (6, 7, 8)}))
        assert at is not None
        every = dict(Offers(search, at).gaining(-(1 << 40)))
        for triples, most in every.items():
            now = search.priced(triples)
            assert now is not None and len(triples ^ at.triples) == 2
            assert UNIT * (at.cost - now.cost) <= most <= Offers(search, at).most
            taken += 1
        # three pairs of old triples to take out; each of them, or one new in its place
        assert sum(len(triples) == 1 for triples in every) == 3
        assert sum(len(triples) == 3 for triples in every) == 0
    assert taken == 3 * few(12)


def test_full_lists_are_filled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that lists that turn out too short lose nothing."""
    codes = np.random.default_rng(6).integers(0, 2, (14, 4))
    table, _ = from_codes(codes)
    search = Exchange(grid_of(table, table.copies), Context())
    at = search.priced(frozenset())
    assert at is not None
    every = list(Offers(search, at).gaining(-(1 << 40)))
    monkeypatch.setattr(exchange, "FIRST", 3)
    assert list(Offers(search, at).gaining(-(1 << 40))) == every and len(every) > 3


@pytest.mark.parametrize("held", [0, 400])
def test_exchanges_beyond_memory_claim_nothing(monkeypatch: pytest.MonkeyPatch, held: int) -> None:
    """Tests that too many triples, or exchanges of them, end the search without a claim."""
    codes = np.random.default_rng(0).integers(0, 3, (15, 6))
    problem = Problem(from_codes(codes)[0], KAnonymity(2))
    best = solve(problem, SimplexMatching(effort=NOTHING_FAST))
    assert best.status == "optimal"
    monkeypatch.setattr(exchange, "HELD", held)
    now = solve(problem, SimplexMatching(effort=NOTHING_FAST))
    assert now.ended == "stopped paying" and now.bound < best.cost <= now.cost


def test_stopped_exchange_claims_nothing() -> None:
    """Tests that no optimum is claimed when time is up."""
    nodes = two_anonymous(from_codes(np.eye(6, dtype=np.int64))[0], 0)
    stop = Stop()
    stop.interrupt()
    assert cheapest(nodes, any_groups(nodes), Context(stop=stop)) is None


def test_only_who_asks_gets_long_exchanges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that large tables end without a proof where the engine stands by, and only there."""
    nodes = two_anonymous(from_codes(np.eye(8, dtype=np.int64)[:, :7])[0], 0)
    monkeypatch.setattr(pipeline, "QUICK", 3)
    monkeypatch.setattr(pipeline, "relax", lambda *_: pytest.fail("no fast step"))
    for to_the_end, ended in ((False, "stopped paying"), (True, "finished")):
        effort = Effort(rounds=0, to_the_end=to_the_end)
        assert match(nodes, any_groups(nodes), Context(), effort).ended == ended
