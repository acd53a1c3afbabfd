"""The lemma on cubic graphs behind the exchange of triples (docs/explanation/polynomial.md)."""

import random
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from dial import few

Edge = tuple[int, int]
FOUR = {
    "complete": [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
    "two double edges in a ring": [(0, 1), (0, 1), (1, 2), (2, 3), (2, 3), (3, 0)],
    "two loops": [(0, 0), (0, 1), (1, 2), (1, 2), (2, 3), (3, 3)],
    "one loop": [(0, 0), (0, 1), (1, 2), (1, 3), (2, 3), (2, 3)],
    "three loops": [(0, 1), (0, 2), (0, 3), (1, 1), (2, 2), (3, 3)],
}


def moves(vertices: int, edges: list[Edge], old: set[int], most: int) -> Iterator[tuple[int, ...]]:
    """Sets of edges (0 or 1 for each): lawful degrees, at most so many vertices of odd degree.

    Old triples (A) may have degree 0, 1 or 3, new ones (B) 0, 2 or 3.
    """
    for number in range(1, 1 << len(edges)):
        taken = [number >> i & 1 for i in range(len(edges))]
        degree = np.zeros(vertices, int)
        for (u, v), one in zip(edges, taken, strict=True):
            degree[u] += one
            degree[v] += one
        lawful = all(d in ((0, 1, 3) if v in old else (0, 2, 3)) for v, d in enumerate(degree))
        if lawful and (degree % 2).sum() <= most:
            yield tuple(taken)


def in_cone(vertices: int, edges: list[Edge], old: set[int], most: int = 2) -> bool:
    """Whether nonnegative shares of such sets add up to each edge once."""
    columns = np.array(list(moves(vertices, edges, old, most)), float).T
    if not columns.size:
        return False
    cost = np.ones(columns.shape[1])
    return linprog(cost, A_eq=columns, b_eq=np.ones(len(edges))).status == 0


@pytest.mark.parametrize("name", FOUR)
def test_four_vertices(name: str) -> None:
    """Tests all cubic graphs on four vertices, with all kinds of vertices."""
    for size in range(5):
        for old in combinations(range(4), size):
            assert in_cone(4, FOUR[name], set(old))


def test_more_vertices() -> None:
    """Tests random cubic graphs, loops and double edges included."""
    choose = random.Random(1)
    for _ in range(few(60)):
        vertices = choose.choice([6, 6, 6, 8])
        ends = [v for v in range(vertices) for _ in range(3)]
        choose.shuffle(ends)
        edges = list(zip(ends[::2], ends[1::2], strict=True))
        assert in_cone(vertices, edges, {v for v in range(vertices) if choose.random() < 0.5})


def test_two_odd_vertices_are_needed() -> None:
    """Tests that sets without odd vertices do not do: matching again is not enough."""
    assert not in_cone(4, FOUR["complete"], {0}, most=0)
    assert not in_cone(4, FOUR["two loops"], {0, 1}, most=0)
