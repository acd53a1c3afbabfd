"""Tests of the graph of a formula (Blocki and Williams 2010, Theorem 5, Appendix B)."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest

from incrowd.instances.cnf import Cnf, random_cnf
from incrowd.instances.exact_cover import exact_covers
from incrowd.instances.satisfiability import OneInThreeSat, formula_graph
from incrowd.instances.worked import EXAMPLE_1, EXAMPLE_2


def splits(formula: Cnf) -> int:
    """In how many ways the edges of the formula's graph split into 4-stars (and triangles)."""
    graph = formula_graph(formula).graph
    parts = graph.stars() + graph.triangles()
    return sum(1 for _ in exact_covers(len(graph.edges), parts))


def formulas(positive: bool, count: int) -> list[Cnf]:
    """Random formulas, few variables so that some have no 1-in-3 assignment."""
    rng = np.random.default_rng(11)
    sizes = [(3 + i % 4, 1 + i % 5) for i in range(count)]
    return [random_cnf(rng, v, c, positive, False)[0] for v, c in sizes]


def parities(formula: Cnf) -> bool:
    """Whether some assignment makes the literals of every clause all equal."""
    graph = nx.Graph()
    for number, clause in enumerate(formula.clauses):
        for literal in clause:
            # Literal and clause side by side; a variable's literals on opposite sides.
            graph.add_edge(literal, ("clause", number))
            graph.add_edge(literal, -literal)
    return nx.is_bipartite(graph)


def test_example_1_splits_in_two_ways():
    """Tests that Example 1 has exactly two partitions, of the two assignments that it names."""
    found = set(EXAMPLE_1.assignments())
    assert found == {(True, True, False), (False, False, False)}
    assert splits(EXAMPLE_1) == 2
    family = OneInThreeSat(EXAMPLE_1)
    releases = {family.source_to_solution(answer) for answer in found}
    assert len(releases) == 2
    assert {family.solution_to_source(release) for release in releases} == found


def test_example_2_does_not_split():
    """Tests that Example 2 has no assignment and no partition."""
    assert next(EXAMPLE_2.assignments(), None) is None
    assert splits(EXAMPLE_2) == 0


def test_every_split_is_an_assignment():
    """Tests that partitions and assignments (of the variables that occur) are equally many."""
    counts = Counter()
    for formula in formulas(False, 30) + formulas(True, 10):
        free = formula.variables - len({abs(v) for clause in formula.clauses for v in clause})
        assignments = sum(1 for _ in formula.assignments())
        assert splits(formula) * 2**free == assignments
        counts[assignments > 0] += 1
    assert min(counts.values()) >= 3 and len(counts) == 2


def test_assignments_by_brute_force():
    """Tests the 1-in-3 solver against all assignments."""
    for formula in formulas(False, 20):
        every = (
            tuple(bool(mask >> v & 1) for v in range(formula.variables))
            for mask in range(1 << formula.variables)
        )
        assert set(formula.assignments()) == {a for a in every if formula.obeys(a)}


def test_graph_is_simple_and_without_triangles():
    """Tests that no edge is doubled (building would fail) and no triangle closes."""
    for formula in formulas(False, 30):
        built = formula_graph(formula)
        assert built.graph.triangles() == []
        assert {len(near) for near in built.graph.adjacency} == {1, 3, 4}
        assert len(built.graph.edges) % 3 == 0


def test_bipartite_iff_the_literals_of_each_clause_can_agree():
    """Tests the exact condition for a bipartite graph; the paper claims it is always so.

    Example 1 itself is a counterexample.
    """
    kinds = set()
    for formula in [EXAMPLE_1, EXAMPLE_2, *formulas(False, 30)]:
        bipartite = formula_graph(formula).graph.colouring(2) is not None
        assert bipartite == parities(formula)
        kinds.add(bipartite)
    assert kinds == {True, False}
    assert formula_graph(EXAMPLE_1).graph.colouring(2) is None


def test_bipartite_without_negations():
    """Tests that formulas without negations, as hard as all, do give bipartite graphs."""
    for formula in formulas(True, 20):
        assert formula_graph(formula).graph.colouring(2) is not None


@pytest.mark.parametrize("most", range(1, 9))
def test_gadget_is_as_deep_as_the_paper_says(most):
    """Tests d with 3·2^(d−2) < 3(k + 1) ≤ 3·2^(d−1), by the gadget's number of inner vertices."""
    clauses = tuple((1, 2 + 2 * i, 3 + 2 * i) for i in range(most))
    built = formula_graph(Cnf(1 + 2 * most, clauses))
    depth = next(d for d in range(2, 9) if 3 * (most + 1) <= 3 * 2 ** (d - 1))
    names = built.graph.vertices
    inner = [n for n in names if n.startswith("x1t") and "+" not in n]
    assert len(inner) == 1 + 3 * (2 ** (depth - 1) - 1)
