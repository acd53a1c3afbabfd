"""Tests of the maps between answers and releases: what one side reaches, the other must match."""

import numpy as np
import pytest
from exact_release import best_release, descended, grown, lawful, shaken

from incrowd.instances import FAMILIES, find, make
from incrowd.instances.table import check_partition

SIZES = {
    "three-dimensional-matching": {"side": 5, "triples": 11},
    "one-in-three-sat": {"variables": 4, "clauses": 2},
    "edge-cliques": {"r": 4, "vertices": 7, "parts": 2, "copies": 2},
    "clique": {"h": 2, "vertices": 5, "edges": 4},
    "cubic-vertex-cover": {"vertices": 6},
    "closeness-lift": {"k": 3, "rows": 10, "columns": 5, "values": 2},
    "padding": {"rows": 8, "columns": 3, "values": 2},
    "closeness-matching-half": {"side": 2, "triples": 6},
}
NAMES = [family.id for family in FAMILIES]


def releases(family, answer, rng):
    """Lawful releases: random, locally optimal, and near the answer's."""
    table = family.to_table()
    start = grown(table, rng)
    yield start
    yield descended(table, start, rng)
    if answer is not None:
        near = family.source_to_solution(answer)
        yield near
        for moves in (1, 2, 6):
            far = shaken(table, near, rng, moves)
            yield far
            yield descended(table, far, rng)


@pytest.mark.parametrize("name", NAMES)
def test_answer_to_release(name):
    """Tests that an answer's release is lawful, costs what the equation says, and leads back."""
    for seed in range(5):
        for planted in (True, False):
            family, answer = make(name, seed, planted, **SIZES.get(name, {}))
            table = family.to_table()
            for told in (answer, family.solve_source()):
                if told is None:
                    continue
                release = family.source_to_solution(told)
                check_partition(release, table.rows)
                assert all(lawful(table, group) for group in release)
                assert table.cost(release) == family.cost_of(told)
                back = family.solution_to_source(release)
                assert back is not None
                assert family.cost_of(back) <= table.cost(release)


@pytest.mark.parametrize("name", NAMES)
def test_release_to_answer(name):
    """Tests that any lawful release leads to an answer no worse than it is.

    For decision problems: any release within the threshold leads to an answer, whose own release
    is within it too; no release beats the threshold.
    """
    rng = np.random.default_rng(7)
    within = 0
    for seed in range(3):
        family, answer = make(name, seed, seed != 2, **SIZES.get(name, {}))
        table = family.to_table()
        for release in releases(family, answer, rng):
            assert all(lawful(table, group) for group in release)
            cost = table.cost(release)
            back = family.solution_to_source(release)
            if family.decision:
                assert cost >= table.threshold
                if cost == table.threshold:
                    assert back is not None
                    within += 1
            if back is not None:
                assert table.cost(family.source_to_solution(back)) <= cost
                assert family.cost_of(back) <= cost
    assert within or not find(name).decision


@pytest.mark.parametrize("name", ["three-dimensional-matching", "closeness-matching"])
def test_no_answer_is_no_answer(name):
    """Tests that the empty matching is a release in which every cell is starred."""
    family, _ = make(name, 0, False)
    table = family.to_table()
    assert table.cost(family.source_to_solution(())) == table.codes.size == family.cost_of(())


def test_any_cover_is_a_release():
    """Tests cubic-vertex-cover on covers that are not smallest, up to all vertices."""
    rng = np.random.default_rng(1)
    for seed in range(4):
        family, _ = make("cubic-vertex-cover", seed, False, vertices=8)
        table = family.to_table()
        for _ in range(10):
            cover = set(family.solve_source()) | set(rng.choice(8, 2).tolist())
            answer = tuple(sorted(cover))
            assert table.cost(family.source_to_solution(answer)) == family.cost_of(answer)


def test_any_half_is_a_release():
    """Tests bisection on halves that are not best."""
    family, _ = make("bisection", 0, False)
    for answer in ((0, 1, 2, 3), (0, 2, 4, 6), (0, 5, 6, 7)):
        assert family.to_table().cost(family.source_to_solution(answer)) == family.cost_of(answer)


def test_planted_answers_are_best():
    """Tests that what was planted is an optimum of the source problem, family by family."""
    for name in NAMES:
        if name in ("closeness-lift", "padding", "distance-twins", "two-factor-tight"):
            continue  # their planted optimum is checked against brute force elsewhere
        for seed in range(10):
            family, answer = make(name, seed, True, **SIZES.get(name, {}))
            best = family.solve_source()
            assert best is not None
            assert family.cost_of(best) == family.cost_of(answer)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("cubic-vertex-cover", {"vertices": 6}),
        ("cubic-vertex-cover", {"vertices": 8}),
        ("clique", {"h": 3, "vertices": 5, "edges": 7}),
        ("half-clique", {"vertices": 6, "edges": 9}),
        ("any-clique", {"h": 3, "vertices": 5, "edges": 6}),
        ("edge-cliques", {"r": 4, "vertices": 7, "parts": 2, "alphabet": "binary"}),
        ("bisection", {"vertices": 8, "edges": 10}),
        ("closeness-matching", {"side": 4, "triples": 8}),
        ("closeness-matching-half", {"side": 3, "triples": 6}),
        ("three-dimensional-matching", {"side": 5, "triples": 10}),
        ("triangles-or-stars", {"vertices": 6, "parts": 4}),
        ("padding", {"rows": 6, "columns": 3, "values": 2}),
    ],
)
def test_optimal_release_to_best_answer(name, options):
    """Tests that an optimum which an independent solver found leads to a best answer."""
    for seed in range(4):
        family, _ = make(name, seed, seed == 2, **options)
        table = family.to_table()
        cost, release = best_release(table)
        assert table.cost(release) == cost
        assert all(lawful(table, group) for group in release)
        best, back = family.solve_source(), family.solution_to_source(release)
        if family.decision:
            assert (best is None) == (cost > table.threshold)
            assert best is None or back is not None
        else:
            assert family.cost_of(back) == family.cost_of(best) == cost
