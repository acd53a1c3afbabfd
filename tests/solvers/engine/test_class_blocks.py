"""Blocks of classes re-solved near lifted prices: each part against its definition."""

import networkx as nx
import numpy as np
import pytest

from bounds.odd_set_samples import classes_of, raised, worth_of
from incrowd.bounds.odd_sets.classes import some_classes
from incrowd.bounds.odd_sets.pricing import Classes, PricingProblem
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.solution import Solution
from incrowd.solvers.engine.class_blocks import (
    REACH,
    ClassBlocks,
    Layout,
    above_lifted,
    links_of,
    near,
    split,
)
from incrowd.solvers.engine.windows import sorted_classes
from oracle import optimum
from solvers.engine.engine_samples import KINDS, random_tables


@pytest.mark.parametrize("kind", KINDS)
def test_some_classes_are_the_dearest_of_each_pattern(kind: str) -> None:
    """Tests at most so many per pattern, and none left out that is dearer than one listed."""
    for instance, rng in random_tables(51, 15, kind, (4, 10), (1, 4)):
        k, most = int(rng.integers(2, 4)), int(rng.integers(1, 12))
        if instance.rows < k:
            continue
        lifted, _ = raised(instance, k, turns=int(rng.integers(2, 9)))
        lists = lifted.lists
        found = Classes.room(500, k)
        problem = PricingProblem.of(lists, instance.counts, k, lifted.price, lifted.sets)
        n = some_classes(problem, 2.0, most, found)
        for p in range(len(lists.cost)):
            at = np.flatnonzero(found[0][:n] == p)
            listed = {tuple(sorted(found[2][i, : found[1][i]].tolist())) for i in at}
            assert len(listed) == len(at) <= most
            worth = {c: worth_of(c, p, lists, lifted) for c in classes_of(instance, p, lists, k)}
            assert listed <= {c for c, w in worth.items() if w > -2.0 - 1e-9}
            dearest = max((w for c, w in worth.items() if c not in listed), default=-9.0)
            # of equals some may be left out, and those of no reduced cost
            assert all(worth[c] >= min(dearest, 0.0) - 2.0 * 0.6**14 for c in listed)


@pytest.mark.parametrize("kind", KINDS)
def test_links_and_the_way_along_them(kind: str) -> None:
    """Tests what links cost above lifted prices, and the nearest classes by another method."""
    for instance, rng in random_tables(52, 10, kind, (8, 14), (1, 3)):
        k = 2
        lifted, _ = raised(instance, k, turns=6)
        links = links_of(lifted, instance, k)
        best = split(Solution.of(instance, sorted_classes(instance, k)), k)
        layout = Layout.of(best)
        rows = [r[r >= 0].tolist() for r in links.rows]
        for members, length in zip(rows, links.length, strict=True):
            costs = [
                -worth_of(tuple(sorted(members)), p, lifted.lists, lifted)
                for p in range(len(lifted.lists.cost))
                if tuple(sorted(members)) in classes_of(instance, p, lifted.lists, k)
            ]
            assert np.isclose(costs, length * instance.cell).any()
            assert length <= REACH + 1e-9
        hop = links.length + rng.random(len(links.length))
        graph = nx.Graph()
        graph.add_nodes_from(range(len(best.sizes)))
        for members, way in zip(rows, hop, strict=True):
            classes = {int(c) for i in members for c in best.classes[instance.copies == i]}
            for a in classes:
                for b in classes - {a}:
                    old = graph.get_edge_data(a, b, {"weight": np.inf})["weight"]
                    graph.add_edge(a, b, weight=min(old, way))
        away = nx.single_source_dijkstra_path_length(graph, 0)
        taken = near(0, int(rng.integers(1, instance.rows + 1)), layout, links, hop).tolist()
        assert taken == sorted(away, key=lambda c: away[c])[: len(taken)]


@pytest.mark.parametrize("kind", KINDS)
def test_what_classes_cost_above_lifted_prices(kind: str) -> None:
    """Tests the kernel against the definition, for all classes of every pattern."""
    for instance, rng in random_tables(53, 10, kind, (4, 9), (1, 4)):
        k = int(rng.integers(2, 4))
        if instance.rows < k:
            continue
        lifted, _ = raised(instance, k, turns=5)
        for p in range(len(lifted.lists.cost)):
            classes = sorted(classes_of(instance, p, lifted.lists, k))
            rows = np.array([c + (-1,) * (2 * k - 1 - len(c)) for c in classes], np.int64)
            cost = np.array([len(c) * lifted.lists.cost[p] for c in classes], np.int64)
            worth = [worth_of(c, p, lifted.lists, lifted) for c in classes]
            problem = PricingProblem.of(lifted.lists, instance.counts, k, lifted.price, lifted.sets)
            above = above_lifted(rows, cost, problem)
            assert np.allclose(above, -np.array(worth))


def test_splitting_costs_nothing() -> None:
    """Tests classes of k to 2k − 1 copies that refine the old ones and cost no more."""
    for instance, rng in random_tables(54, 18, "trees", (6, 25), (1, 4)):
        k = int(rng.integers(2, 4))
        before = Solution.of(instance, rng.integers(0, max(1, instance.rows // 7), instance.rows))
        if before.sizes.min() < k:
            continue
        after = split(before, k)
        assert k <= after.sizes.min() and after.sizes.max() < 2 * k
        assert after.cost <= before.cost
        for c in range(len(after.sizes)):
            assert len(set(before.classes[after.classes == c].tolist())) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_block_of_everything_is_solved(kind: str) -> None:
    """Tests the optimum when every class is offered, and never worse when few are."""
    better = 0
    for instance, rng in random_tables(55, 15, kind, (5, 11), (2, 5)):
        k = int(rng.integers(2, 4))
        if instance.rows < 2 * k:
            continue
        lifted, _ = raised(instance, k, turns=20)
        poor = Solution.of(instance, np.zeros(instance.rows, np.int64))
        problem = poor, lifted, k, 1, lambda: 60.0
        whole = ClassBlocks(sizes=(99, 99), slack=99.0, most=9999, least=0.0)
        best = optimum(instance, KAnonymity(k))
        found = whole.run(*problem)
        assert k <= found.sizes.min() and found.cost == best
        some = ClassBlocks(sizes=(4, 6), slack=1.0, most=2, least=0.0).run(*problem)
        assert k <= some.sizes.min() and some.cost <= poor.cost
        better += some.cost < poor.cost
    assert better
