"""Tests that both optima obey each family's equation, by exact solvers on both sides."""

from itertools import combinations
from math import inf

import numpy as np
import pytest
from exact_release import Spec, brute, by_milp

from dial import few
from incrowd.errors import InputError
from incrowd.instances import make, read
from incrowd.instances.graph import Graph
from incrowd.instances.table import ModelSpec
from oracle import optimum

K4 = "1 2\n1 3\n1 4\n2 3\n2 4\n3 4\n"
K33 = "".join(f"{a} {b}\n" for a in (1, 2, 3) for b in (4, 5, 6))
PRISM = "1 2\n2 3\n1 3\n4 5\n5 6\n4 6\n1 4\n2 5\n3 6\n"


def check(family, found: float) -> None:
    """Compare an exact optimum of the table with the source problem's, by the equation."""
    answer = family.solve_source()
    table = family.to_table()
    if not family.decision:
        assert found == family.cost_of(answer)
        assert table.cost(family.source_to_solution(answer)) == found
    elif answer is None:
        assert found > table.threshold
    else:
        assert family.cost_of(answer) == table.threshold
        assert table.cost(family.source_to_solution(answer)) == table.threshold
        assert found <= table.threshold


SMALL = {
    "three-dimensional-matching": {"side": 3, "triples": 5},
    "triangles-or-stars": {"vertices": 6, "parts": 3},
    "ternary-triangles": {"vertices": 7, "parts": 3},
    "edge-cliques": {"r": 3, "vertices": 6, "parts": 3},
    "disjoint-diversity-triangles": {"vertices": 5, "parts": 2},
    "any-clique": {"h": 3, "vertices": 5, "edges": 6},
    "two-diversity-triangles": {"side": 3, "parts": 3},
    "three-diversity-triangles": {"side": 3, "parts": 3},
    "closeness-lift": {"rows": 8, "columns": 4, "values": 2},
    "bisection": {"vertices": 8, "edges": 11},
    "padding": {"rows": 6, "columns": 3, "values": 2},
    "half-clique": {"vertices": 8, "edges": 14},
    "closeness-matching": {"side": 3, "triples": 6},
    "closeness-matching-half": {"side": 1, "triples": 1},
}


@pytest.mark.parametrize("planted", [True, False])
@pytest.mark.parametrize("name", SMALL)
def test_small_tables(name, planted):
    """Tests the equation against brute force on random and planted source problems."""
    for seed in range(few(6, 3)):
        family, answer = make(name, seed, planted, **SMALL[name])
        found = brute(family.to_table())
        check(family, found)
        if planted:
            assert found == family.cost_of(answer)


def test_both_answers_occur():
    """Tests that random decision problems are of both kinds, so that neither side goes untried."""
    tried = {
        "triangles-or-stars": {"vertices": 6, "parts": 3},
        "ternary-triangles": {"vertices": 4, "parts": 1},
        "three-diversity-triangles": {"side": 2, "parts": 2},
        "half-clique": {"vertices": 8, "edges": 14},
        "any-clique": {"h": 3, "vertices": 7, "edges": 7},
        "edge-cliques": {"r": 3, "vertices": 4, "parts": 1},
        "disjoint-diversity-triangles": {"vertices": 4, "parts": 1},
        "clique": {"h": 3, "vertices": 5, "edges": 5},
        "one-in-three-sat": {"variables": 3, "clauses": 3},
    }
    for name, options in tried.items():
        kinds = {make(name, seed, False, **options)[0].solve_source() is None for seed in range(30)}
        assert kinds == {True, False}, name


@pytest.mark.parametrize("name", ["ternary-triangles", "three-diversity-triangles"])
def test_dense_triangle_problems(name):
    """Tests random problems small enough that some split into triangles by chance."""
    options = (
        {"vertices": 4, "parts": 1} if name == "ternary-triangles" else {"side": 2, "parts": 2}
    )
    for seed in range(few(30)):
        family, _ = make(name, seed, False, **options)
        check(family, brute(family.to_table()))


@pytest.mark.parametrize(
    "options",
    [
        {"r": 3, "vertices": 4, "parts": 1, "copies": 3},
        {"r": 3, "vertices": 6, "parts": 2, "copies": 2},
        {"r": 4, "vertices": 5, "parts": 1},
        {"r": 4, "vertices": 7, "parts": 2},
        {"r": 4, "vertices": 7, "parts": 2, "alphabet": "binary"},
        {"r": 4, "vertices": 5, "parts": 1, "copies": 2, "alphabet": "binary"},
        {"r": 5, "vertices": 5, "parts": 1, "alphabet": "binary"},
    ],
)
def test_edge_cliques(options):
    """Tests edge-cliques with other cliques, copies and alphabets; a clique's k is C(r, 2)."""
    r, copies = options["r"], options.get("copies", 1)
    for seed in range(few(4, 2)):
        family, answer = make("edge-cliques", seed, seed < 2, **options)
        table = family.to_table()
        assert table.model.k == copies * r * (r - 1) // 2
        found = brute(table)
        check(family, found)
        if answer is not None:
            assert found == family.cost_of(answer)


def test_edge_cliques_told_from_stars():
    """Tests that the edges at one vertex, as many as a clique has, do not reach the threshold.

    With r = 3 the binary table could not tell them apart, so it is refused; r = 4 can.
    """
    for r, edges in ((3, 3), (4, 6)):
        star = "".join(f"0 {v}\n" for v in range(1, edges + 1))
        for alphabet in ("ternary", "binary"):
            if (r, alphabet) == (3, "binary"):
                with pytest.raises(InputError):
                    read("edge-cliques", star, r=r, alphabet=alphabet)
                continue
            table = read("edge-cliques", star, r=r, alphabet=alphabet).to_table()
            assert brute(table) > table.threshold


@pytest.mark.parametrize(("vertices", "h"), [(4, 3), (6, 3), (5, 2), (7, 2), (6, 5)])
def test_any_clique(vertices, h):
    """Tests any-clique with vertices adjacent to all, with lone ones, and with none."""
    for seed in range(few(4, 2)):
        family, answer = make(
            "any-clique", seed, seed < 2, h=h, vertices=vertices, edges=max(h * (h - 1) // 2, 6)
        )
        half = family.padded()
        assert half.graph.order == max(2 * h, 2 * vertices - 2 * h)
        assert (half.solve_source() is None) == (family.solve_source() is None)
        check(family, brute(family.to_table()))
        if answer is not None:
            back = family.solution_to_source(family.source_to_solution(answer))
            assert back == answer


@pytest.mark.parametrize("seed", range(3))
def test_matching_beyond_perfect(seed):
    """Tests three-dimensional-matching on 12 rows, with sparse triples."""
    family, _ = make("three-dimensional-matching", seed, False, side=4, triples=6)
    check(family, brute(family.to_table()))


def test_matching_that_leaves_one_or_two_over():
    """Tests the case that the paper's equation misses: leftovers too few for a class."""
    for text, over in (("a x p\nb - -", 1), ("a x p\nb y -", 2), ("a x p\nb y q\nc - -", 1)):
        family = read("three-dimensional-matching", text)
        answer = family.solve_source()
        rows = family.triples.size
        assert rows - 3 * len(answer) == over
        found = brute(family.to_table())
        assert found == 27 * rows - 3 * (len(answer) - 1)
        check(family, found)


@pytest.mark.parametrize("t", ["0", "1/4", "33/100"])
def test_closeness_matching_at_any_t(t):
    """Tests that every t below 1/3 gives the same optimum."""
    for seed in range(2):
        family, _ = make("closeness-matching", seed, False, side=3, triples=4, t=t)
        check(family, brute(family.to_table()))


@pytest.mark.parametrize("t", ["1/3", "2/5", "9/20", "34/100"])
@pytest.mark.parametrize("side", [1, 2])
def test_closeness_matching_half(side, t):
    """Tests the table with new rows, also where their number was rounded down, by MILP."""
    for seed in range(2):
        planted = bool(seed)
        family, _ = make(
            "closeness-matching-half", seed, planted, side=side, triples=2 * side - 1, t=t
        )
        check(family, by_milp(family.to_table()))


def test_milp_agrees_with_the_oracle():
    """Tests this folder's MILP on every family it serves, where the oracle can still check it."""
    for name in ("closeness-matching", "closeness-matching-half", "triangles-or-stars", "padding"):
        for seed in range(3):
            table = make(name, seed, False, **SMALL[name])[0].to_table()
            assert by_milp(table) == brute(table), (name, seed)


@pytest.mark.parametrize("h", [2, 3])
def test_clique(h):
    """Tests clique by MILP on its few distinct rows."""
    for seed in range(4):
        family, _ = make("clique", seed, bool(seed % 2), h=h, vertices=5, edges=h + 2)
        check(family, by_milp(family.to_table()))


def test_clique_needs_two_h_leading_columns():
    """Tests that 2h, not h, symbols of its own per edge keep the groups of an edge together.

    The paper's text sets the first h columns only.
    """
    family, _ = make("clique", 0, True, h=3, vertices=4, edges=6)
    leading = family.to_table().codes[:, :6]
    assert (leading[family.zeros :] > 1).all()
    assert (leading[: family.zeros] == 0).all()


@pytest.mark.parametrize(("text", "cost"), [(K4, 108), (K33, 153)])
def test_vertex_cover_known(text, cost):
    """Tests cubic-vertex-cover on K4 and K3,3."""
    family = read("cubic-vertex-cover", text)
    found = by_milp(family.to_table())
    assert found == cost
    check(family, found)


def test_vertex_cover_others():
    """Tests cubic-vertex-cover on the prism and on random cubic graphs."""
    check(prism := read("cubic-vertex-cover", PRISM), by_milp(prism.to_table()))
    for seed in range(3):
        family, answer = make("cubic-vertex-cover", seed, seed == 0, vertices=8)
        found = by_milp(family.to_table())
        check(family, found)
        if answer is not None:
            assert found == family.cost_of(answer)


def test_closeness_lift_is_k_anonymity():
    """Tests that t-closeness at 1 − k/n and k-anonymity have one optimum, exactly at the edge."""
    for k in (2, 3, 4):
        family, _ = make("closeness-lift", k, False, k=k, rows=9, columns=3, values=2)
        table = family.to_table()
        plain = optimum(table.to_instance()[0], Spec(ModelSpec("k-anonymity", k=k)))
        assert brute(table) == plain


@pytest.mark.parametrize("c", ["1/3", "1/4", "3/10", "1/5"])
def test_padding_at_any_share(c):
    """Tests padding also where n/2c is no whole number."""
    family, _ = make("padding", 5, False, rows=4, columns=2, values=3, c=c)
    assert family.to_table().rows == int(4 / (2 * family.c))
    check(family, brute(family.to_table()))


@pytest.mark.parametrize("c", ["2/5", "3/8"])
def test_half_clique_exact_value(c):
    """Tests the sharper equation behind half-clique: every choice of the old rows' class.

    With c = 2/5 there is a single new row, one less than the paper asks for.
    """
    for seed in range(4):
        family, _ = make("half-clique", seed, False, vertices=6, edges=8, c=c)
        check(family, brute(family.to_table()))
        graph, half = family.graph, 3
        saved = 0
        for mask in range(1 << 6):
            inside = {v for v in range(6) if mask >> v & 1}
            outside = 6 - len(inside)
            if half <= outside <= family.rows - half:
                inner = sum(inside.issuperset(edge) for edge in graph.edges)
                saved = max(saved, outside * inner)
        assert brute(family.to_table()) == family.rows * len(graph.edges) - saved


def test_theorem_6_needs_another_definition():
    """Tests that under Definition 1 itself no release of theorem 6's table is lawful.

    No two rows differ in all three sensitive attributes, so not even a triangle is 2-diverse.
    """
    family, answer = make("two-diversity-triangles", 1, True, side=3, parts=3)
    table = family.to_table()
    values = table.sensitive
    assert not (values[:, None] != values[None]).all(axis=2).any()
    literal = Spec(ModelSpec("l-diversity", l=2, l_kind="disjoint"))
    assert optimum(table.to_instance()[0], literal) is None
    # Nor under the frequency definition: two of the three values 1, in each of three attributes.
    frequency = Spec(ModelSpec("l-diversity", l=2, l_kind="frequency"))
    assert optimum(table.to_instance()[0], frequency) is None
    assert brute(table) == family.cost_of(answer) < inf


def test_three_diversity_under_frequency_too():
    """Tests that the table of theorem 7 has the same optimum under frequency 3-diversity."""
    family, answer = make("three-diversity-triangles", 2, True, side=3, parts=3)
    table = family.to_table()
    frequency = Spec(ModelSpec("l-diversity", l=3, l_kind="frequency"))
    assert optimum(table.to_instance()[0], frequency) == family.cost_of(answer)


def test_tripartite_values_tell_the_sides():
    """Tests the sensitive values of both diversity families against the sides of a known graph."""
    text = "a1 b1\nb1 c1\na1 c1\n"
    table = read("three-diversity-triangles", text).to_table()
    assert len(set(table.sensitive[:, 0].tolist())) == 3
    rows = read("two-diversity-triangles", text).to_table().sensitive
    assert sorted(rows.tolist()) == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_classes_that_are_no_triangle_or_star_cost_more():
    """Tests the lemma behind five families: 3 stars a row for a triangle or 4-star, else more."""
    graph = Graph.parse("1 2\n1 3\n2 3\n1 4\n1 5\n5 6\n6 7\n5 7\n2 4\n")
    table = read("triangles-or-stars", graph.text()).to_table()
    rng = np.random.default_rng(0)
    good = {frozenset(part) for part in graph.triangles() + graph.stars()}
    for _ in range(few(300)):
        size = int(rng.integers(3, 6))
        group = frozenset(rng.choice(len(graph.edges), size, replace=False).tolist())
        each = table.class_cost(sorted(group)) // size
        assert each == 3 if group in good else each >= 4


@pytest.mark.parametrize("k", [3, 4, 5])
def test_two_column_sat(k):
    """Tests the two-column reduction by MILP; every row differs, and k is what it says."""
    for seed in range(few(6, 3)):
        family, answer = make("two-column-sat", seed, seed % 2 == 0, k=k, clauses=4 + seed)
        table = family.to_table()
        assert len(np.unique(table.codes, axis=0)) == table.rows and table.model.k == k
        found = by_milp(table)
        check(family, found)
        if answer is not None:
            assert found == table.rows


@pytest.mark.parametrize("k", [3, 4])
def test_two_column_sat_without_an_answer(k):
    """Tests a formula without an answer: of five variables, three are always equal."""
    triples = list(combinations(range(1, 6), 3))
    lines = [" ".join(str(sign * v) for v in t) + " 0" for sign in (1, -1) for t in triples]
    for left_out in (None, 12):
        kept = [line for i, line in enumerate(lines) if i != left_out]
        family = read("two-column-sat", "\n".join([f"p cnf 5 {len(kept)}", *kept]), k=k)
        assert (family.solve_source() is None) == (left_out is None)
        check(family, by_milp(family.to_table()))
