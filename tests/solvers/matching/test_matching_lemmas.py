"""One property test for each lemma of docs/explanation/two-anonymity.md."""

from itertools import combinations

import numpy as np
import pytest
from brute import all_groups, classes_of, padded, partition_cost, relaxation
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import random_table

from dial import few
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.solvers.base import Context
from incrowd.solvers.matching.assignment import cycles, first_arcs, relax
from incrowd.solvers.matching.dual import slacks_of, with_odd_sets
from incrowd.solvers.matching.nodes import FAR, Nodes
from incrowd.solvers.matching.reduction import any_groups, two_anonymous, two_diverse
from incrowd.solvers.matching.walk import Walker
from oracle import join_cost, optimum

KINDS = ("suppression", "weights", "hierarchies")
seeds = st.integers(0, 10**6)
kinds = st.sampled_from(KINDS)


def some_nodes(rng: np.random.Generator, kind: str, rows: int, diverse: bool) -> Nodes:
    """Nodes of a random table; for 2-diversity one that has a lawful release."""
    while True:
        instance, _ = random_table(rng, kind, rows, sensitive=4 if diverse else 0)
        if not diverse:
            return two_anonymous(instance, 0)
        problem = Problem(instance, FrequencyDiversity(2))
        if problem.model.lawful(problem.table, problem.table):
            return two_diverse(instance, 0)


@settings(deadline=None, max_examples=few(150))
@given(seeds, kinds)
def test_costs_form_a_simplex(seed: int, kind: str) -> None:
    """Lemma 0: costs grow with the class, obey the triangle inequality, and so the simplex one."""
    rng = np.random.default_rng(seed)
    instance, _ = random_table(rng, kind, 6)
    for a, b, c in combinations(range(6), 3):
        three = join_cost(instance, (a, b, c))
        ab, bc, ac = (join_cost(instance, p) for p in ((a, b), (b, c), (a, c)))
        assert max(ab, bc, ac) <= three
        assert 2 * max(ab, bc, ac) <= ab + bc + ac
        assert 2 * (ab + bc + ac) <= 2 * 3 * three


@settings(deadline=None, max_examples=few(150))
@given(seeds, kinds, st.integers(3, 9))
def test_multiplicities(seed: int, kind: str, rows: int) -> None:
    """Lemma 1: hosts and guests keep the optimum, and groups become a release as cheap."""
    rng = np.random.default_rng(seed)
    nodes = some_nodes(rng, kind, rows, diverse=False)
    cost = all_groups(nodes)
    best = optimum(nodes.instance, KAnonymity(2))
    assert partition_cost(nodes.size, cost) == best
    groups = any_groups(nodes)
    paid = sum(cost[tuple(int(u) for u in g if u >= 0)] for g in groups)
    solution = nodes.solution(groups)
    assert solution.cost <= paid
    assert solution.sizes.min() >= 2


def test_guests_of_one_host_pair_up() -> None:
    """Lemma 1: several nodes that go to the same host never tear it."""
    rows = np.array([[0, 0, 0]] * 3 + [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    nodes = two_anonymous(from_codes(rows)[0], 0)
    groups = padded([(u,) for u in range(nodes.size)])
    assert nodes.size == 3
    assert (nodes.grid.home == 2).all()
    solution = nodes.solution(groups)
    assert solution.sizes.min() >= 2
    assert solution.cost <= 6


@settings(deadline=None, max_examples=few(100))
@given(seeds, kinds, st.integers(2, 9))
def test_classes_of_two_and_three(seed: int, kind: str, rows: int) -> None:
    """Lemma 2: 2-diversity needs classes of 2 or 3 rows with different values only."""
    rng = np.random.default_rng(seed)
    nodes = some_nodes(rng, kind, rows, diverse=True)
    best = optimum(nodes.instance, FrequencyDiversity(2))
    assert partition_cost(nodes.size, all_groups(nodes)) == best


@settings(deadline=None, max_examples=few(100))
@given(seeds, kinds, st.integers(2, 9), st.booleans())
def test_relaxation_is_an_assignment(seed: int, kind: str, rows: int, diverse: bool) -> None:
    """Lemma 3: the assignment has the linear program's value, and its prices prove it."""
    rng = np.random.default_rng(seed)
    nodes = some_nodes(rng, kind, rows, diverse)
    if not nodes.size:
        return
    walker = Walker(nodes.grid, seed)
    reach = walker.nearest()
    known = first_arcs(walker, reach, any_groups(nodes))
    fractional = relax(nodes, walker, reach, known, Context())
    cost = all_groups(nodes)
    assert fractional.proven
    assert int(fractional.price.sum()) == pytest.approx(relaxation(nodes.size, cost), abs=1e-6)
    for group, price in cost.items():
        assert fractional.price[list(group)].sum() <= price
    paid = 0.0
    for cycle in cycles(fractional.mate):
        if len(cycle) == 1:
            paid += cost[int(cycle[0]),]
        for u, v in zip(cycle, np.roll(cycle, 1), strict=True):
            if u != v:
                paid += cost[min(u, v), max(u, v)] / 2
    assert paid == fractional.price.sum()


@settings(deadline=None, max_examples=few(150))
@given(seeds, kinds, st.integers(3, 10), st.booleans(), st.integers(0, 3), st.booleans())
def test_pricing_finds_every_group(
    seed: int, kind: str, rows: int, diverse: bool, sets: int, by_pairs: bool
) -> None:
    """Lemma 4: walk and scan find exactly the pairs and triples of small reduced cost."""
    rng = np.random.default_rng(seed)
    nodes = some_nodes(rng, kind, rows, diverse)
    if nodes.size < 3:
        return
    odd_sets = [np.sort(rng.choice(nodes.size, 3, replace=False)) for _ in range(sets)]
    weight = rng.integers(0, 6, sets)
    price = rng.integers(-2, 8, nodes.size)
    unit = int(rng.integers(1, 3))
    dual = with_odd_sets(price, odd_sets, weight, unit)
    walker = Walker(nodes.grid, seed, by_pairs=by_pairs)
    reach = [
        min((c // 2 for g, c in all_groups(nodes).items() if len(g) == 2 and u in g), default=FAR)
        for u in range(nodes.size)
    ]
    assert walker.nearest().tolist() == reach
    slack = {}
    for group, paid in all_groups(nodes).items():
        odd = sum(int(w) for s, w in zip(odd_sets, weight, strict=True) if len({*group} & {*s}) % 2)
        slack[group] = paid * unit - int(price[list(group)].sum()) - odd
    for limit in (-2, 0, 1, 5):
        wanted = {g for g, s in slack.items() if s < limit and len(g) > 1}
        found = walker.below(dual, limit, 10**6, triples=True)
        assert {tuple(int(u) for u in g if u >= 0) for g in found} == wanted
    searched = [s for g, s in slack.items() if len(g) < 3 or weight.any()]
    assert walker.least_slack(dual) == min(0, *searched)
    assert (min(searched) < 0) == (min(slack.values()) < 0)
    groups = list(slack)
    assert slacks_of(nodes.grid, dual, padded(groups)).tolist() == [slack[g] for g in groups]


@settings(deadline=None, max_examples=few(60))
@given(seeds, kinds, st.integers(3, 8))
def test_odd_sets_bound_every_partition(seed: int, kind: str, rows: int) -> None:
    """Lemma 5: prices and odd sets that every group obeys bound the optimum, after Lemma 6 too."""
    from incrowd.bounds.odd_sets.symmetric import symmetric
    from incrowd.solvers.matching.certificate import Certificate, certified

    rng = np.random.default_rng(seed)
    nodes = some_nodes(rng, kind, rows, diverse=False)
    instance = nodes.instance
    best = optimum(instance, KAnonymity(2))
    assert best is not None
    size = nodes.size
    odd_sets = tuple(np.sort(rng.choice(size, 3, replace=False)) for _ in range(2 * (size > 2)))
    unit = 4
    weight = rng.integers(0, 2 * unit, len(odd_sets))
    wild = Certificate(rng.integers(0, 5 * unit, size), odd_sets, weight, unit)
    certificate = certified(wild, Walker(nodes.grid, seed))
    assert certificate.bound <= best
    price = np.zeros(instance.rows, np.int64)
    price[nodes.copy] = certificate.price
    sets = [(nodes.copy[s], int(w)) for s, w in zip(odd_sets, weight, strict=True)]
    proof = symmetric(instance, price, sets, unit)
    assert proof is not None
    assert proof.bound(instance.counts) <= best
    for group in classes_of(instance):
        odd = sum(w * (len({*group} & {*s.tolist()}) % q) for s, w, q in proof.odd_sets)
        paid = int(proof.price[instance.copies[list(group)]].sum()) + odd
        assert paid <= len(group) * join_cost(instance, group) * proof.quantum


@pytest.mark.parametrize(
    ("edges", "splits"),
    [
        ([(0, 1), (1, 2), (0, 2)], True),
        ([(0, 1), (1, 2), (2, 3)], False),
        ([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)], True),
        ([(0, 1), (1, 2), (2, 3), (0, 3), (0, 2), (3, 4)], False),
    ],
)
def test_disjoint_diversity_hides_triangles(edges: list[tuple[int, int]], splits: bool) -> None:
    """Lemma 8: the table of a graph costs 4·edges exactly if the edges split into triangles."""
    triangles = len(edges) // 3
    table = np.zeros((len(edges) + triangles, 5), int)
    for i, edge in enumerate(edges):
        table[i, list(edge)] = 1
    sensitive = np.array([0] * len(edges) + [1] * triangles)
    instance, _ = from_codes(table, sensitive=sensitive)
    best = optimum(instance, DisjointDiversity(2))
    assert best is not None
    assert (best == 4 * len(edges)) == splits
    assert best >= 4 * len(edges)
