"""Tests of the pipeline's parts: separation, regional rounding, branching, the reference."""

import random
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from blossom import perfect_matching
from brute import all_groups, padded, partition_cost
from reference import is_simplex, simplex_matching
from tiny import random_table

from dial import enough, few
from incrowd.problem.instance import from_codes
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.matching import pipeline, separation, walk
from incrowd.solvers.matching.dual import with_odd_sets
from incrowd.solvers.matching.emission import merge_sort
from incrowd.solvers.matching.nodes import FAR, grid_of, pair_cost
from incrowd.solvers.matching.reduction import (
    any_groups,
    greedy_groups,
    two_anonymous,
    two_diverse,
)
from incrowd.solvers.matching.separation import components, violated_sets
from incrowd.solvers.matching.walk import Walker
from solvers.ranged_tables import ranged_tables

KINDS = ("suppression", "weights", "hierarchies")


@pytest.mark.parametrize("extra", [0, 20])
def test_separation_finds_violated_sets(extra: int) -> None:
    """Tests that odd cycles of halves are cut, exactly on few nodes, by descent on many."""
    k = 5 + extra
    pairs = padded([tuple(sorted((i, (i + 1) % k))) for i in range(k)])
    found = violated_sets(np.arange(k), pairs, np.full(k, 0.5), np.random.default_rng(0))
    assert found
    for odd_set in found:
        assert len(odd_set) % 2 == 1
        crossing = sum(0.5 for p in pairs if len({*p.tolist()} & {*odd_set.tolist()}) % 2)
        assert crossing < 1


def test_separation_is_exact_where_exchange_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests, with an exchange that fails, that a triangle is found, but among too many nodes."""
    monkeypatch.setattr(separation, "descend", lambda *_: 2.0)
    for k in (separation.EXACT + 1, 19, 23):
        rest = [(i, i + 1) for i in range(3, k - 1)]
        pairs = padded([(0, 1), (0, 2), (1, 2), *rest])
        x = np.full(len(pairs), 0.5)
        found = violated_sets(np.arange(100, 100 + k), pairs + 100, x, np.random.default_rng(0))
        assert ([100, 101, 102] in [each.tolist() for each in found]) == (k <= separation.LARGE)


@pytest.mark.parametrize("most", [1, 3, 1_500])
def test_blocks_cost_no_more_than_their_nodes(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that nodes cost at least what their blocks do, and that each lies in one block."""
    monkeypatch.setattr(walk, "MOST_BLOCKS", most)
    tables = ranged_tables(9, 40, (6, 14), values=5)
    for instance, _ in tables:
        grid = grid_of(instance, instance.copies)
        of, start, apart = walk.blocks_of(grid)
        assert len(apart) <= max(most, 1) and (np.bincount(of) == np.diff(start)).all()
        for u, v in combinations(range(len(of)), 2):
            assert apart[of[u], of[v]] <= pair_cost(grid, u, v)


def test_components_split_columns() -> None:
    """Tests that groups are split into connected pieces, singles included."""
    groups = padded([(0, 1), (1, 2), (3, 4, 5), (6,)])
    pieces = components(groups, np.arange(4), 7)
    assert sorted((p.tolist(), c.tolist()) for p, c in pieces) == [
        ([0, 1, 2], [0, 1]), ([3, 4, 5], [2]), ([6], [3]),
    ]  # fmt: skip


def test_greedy_groups_are_lawful() -> None:
    """Tests that the first release covers each node once and mixes colors."""
    rng = np.random.default_rng(3)
    for case in range(few(200)):
        instance, _ = random_table(rng, KINDS[case % 3], 12, sensitive=4 if case % 2 else 0)
        nodes = two_diverse(instance, 0) if case % 2 else two_anonymous(instance, 0)
        color = nodes.grid.color
        if not nodes.size or (case % 2 and 2 * np.bincount(color).max() > nodes.size):
            continue
        pairs = [g for g in all_groups(nodes) if len(g) == 2 and rng.random() < 0.3]
        groups = greedy_groups(nodes, padded(pairs))
        if groups is None:
            assert nodes.size == 1 or case % 2
            continue
        assert sorted(groups[groups >= 0].tolist()) == list(range(nodes.size))
        for group in groups:
            members = group[group >= 0]
            assert len(set(color[members].tolist())) == len(members)
            assert len(members) > 1 or nodes.grid.home[members[0]] < FAR


def test_scan_leaves_out_pairs_beyond_reach() -> None:
    """Tests that no group is looked at of which no pair can pay by its lifted prices, at any unit.

    An odd set of negative weight, which there never is, would tell.
    """
    table, rows = from_codes(np.eye(4, dtype=np.int64))
    walker = Walker(grid_of(table, rows), 0, by_pairs=True)
    for unit in (2, 1 << 20):
        prices = np.full(4, unit // 2)
        dual = with_odd_sets(prices, [np.arange(3)], np.full(1, -99 * unit), unit)
        assert walker.least_slack(dual._replace(hat=prices)) == 0
        assert walker.least_slack(dual._replace(hat=5 * prices)) < 0


def test_branching_closes_what_cuts_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the last resort by taking the cuts away."""
    calls = []
    branch_out = pipeline.branch_out
    monkeypatch.setattr(pipeline, "cut", lambda *_: 0)
    monkeypatch.setattr(pipeline, "round_open", lambda *_: False)
    monkeypatch.setattr(pipeline, "complete", lambda *_: None)
    monkeypatch.setattr(pipeline, "branch_out", lambda run: (calls.append(run), branch_out(run))[1])
    rng = np.random.default_rng(0)
    for case in range(few(200)):
        instance, _ = random_table(rng, KINDS[case % 3], 11)
        nodes = two_anonymous(instance, case)
        matching = pipeline.match(nodes, any_groups(nodes), Context(seed=case))
        assert matching.cost == matching.bound == partition_cost(nodes.size, all_groups(nodes))
        assert matching.certificate.bound <= matching.bound
    assert len(calls) > enough(10)


def test_branching_stops() -> None:
    """Tests that an unfinished search claims nothing."""
    from incrowd.solvers.matching.branching import branch

    groups = padded([(0, 1), (1, 2), (0, 2), (0, 1, 2)])
    cost = np.array([2, 2, 2, 6])
    proved, better = branch(groups, cost, 3, [], 7, 1 << 20, 99, Stop())
    assert proved
    assert better is not None
    assert groups[better].tolist() == [[0, 1, 2]]
    assert branch(groups, cost, 3, [], 7, 1 << 20, 99, Stop(time_limit=0.0)) == (False, None)
    assert branch(groups, cost, 3, [], 7, 1 << 20, 0, Stop()) == (False, None)
    assert branch(groups, cost, 3, [], 6, 1 << 20, 99, Stop()) == (True, None)


def test_rounds_end_when_they_stop_paying(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests gaps that halve, gaps that hardly close, and that a gap of 0 asks for all."""
    monkeypatch.setattr(pipeline, "QUICK", 0)
    nodes = two_anonymous(from_codes(np.eye(4, dtype=np.int64))[0], 0)
    for gap, slow in ((None, False), (0.0, True)):
        context, start = Context(stop=Stop(gap=gap)), any_groups(nodes)
        parts = Walker(nodes.grid, 0), context, start, np.random.default_rng(0)
        run = pipeline.Run(nodes, *parts, pipeline.nothing(nodes.size))
        run.gaps = [2**n for n in range(20, 0, -1)]
        assert run.pays
        run.gaps += [2] * pipeline.FEWEST
        assert run.pays == slow
        run.gaps[-1] = 1
        assert run.pays
        run.effort = pipeline.Effort(rounds=len(run.gaps))
        assert not run.pays


def test_perfect_matching_is_cheapest() -> None:
    """Tests the blossom algorithm against networkx."""
    choose = random.Random(1)
    for _ in range(few(200)):
        n = choose.choice([2, 4, 6, 8, 10])
        most = choose.choice([2, 5, 1000])
        cost = [[0] * n for _ in range(n)]
        graph = nx.Graph()
        for u, v in combinations(range(n), 2):
            cost[u][v] = cost[v][u] = choose.randint(0, most)
            graph.add_edge(u, v, weight=-cost[u][v])
        mate = perfect_matching(cost)
        assert all(mate[mate[u]] == u != mate[u] for u in range(n))
        expected = sum(cost[u][v] for u, v in nx.max_weight_matching(graph, maxcardinality=True))
        assert sum(cost[u][v] for u, v in enumerate(mate)) == 2 * expected


def test_reference_is_optimal() -> None:
    """Tests Theorem 7 against brute force on hypergraphs that meet the simplex condition."""
    choose = random.Random(2)
    infeasible = 0
    for _ in range(few(400)):
        n, most = choose.randint(3, 9), choose.choice([1, 3, 10, 100])
        pairs, triples = choose.choice([0.5, 0.8, 1.0]), choose.choice([0.1, 0.3, 1.0])
        cost: dict[tuple[int, ...], int] = {
            pair: choose.randint(0, most)
            for pair in combinations(range(n), 2)
            if choose.random() < pairs
        }
        for triple in combinations(range(n), 3):
            inside = list(combinations(triple, 2))
            if all(pair in cost for pair in inside) and choose.random() < triples:
                half = -(-sum(cost[pair] for pair in inside) // 2)
                cost[triple] = half + choose.choice([0, 0, 0, 1, 3])
        expected = partition_cost(n, cost)
        found = simplex_matching(n, cost)
        infeasible += expected is None
        assert (found[0] if found else None) == expected
        if found:
            assert sorted(v for group in found[1] for v in group) == list(range(n))
            assert sum(cost[group] for group in map(tuple, map(sorted, found[1]))) == found[0]
    assert 0 < infeasible < 400


def test_reference_wants_the_simplex_condition() -> None:
    """Tests that other costs are refused."""
    cost = {(0, 1): 5, (1, 2): 5, (0, 2): 5, (0, 1, 2): 7}
    assert not is_simplex(cost)
    with pytest.raises(ValueError, match="simplex"):
        simplex_matching(3, cost)


def test_rows_are_sorted_stably_by_falling_price() -> None:
    """Tests the merge sort of rows beside numpy's, which takes long to compile."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 41, 64, 100, 257, 1000):
        hat = rng.integers(0, 20, n + 5)
        rows = rng.permutation(n + 5).astype(np.int32)
        wanted = rows.copy()
        wanted[:n] = wanted[:n][np.argsort(-hat[wanted[:n]], kind="stable")]
        merge_sort(rows, n, hat)
        assert (rows == wanted).all()
