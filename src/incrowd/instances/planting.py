"""Random graphs made of triangles, of triangles and 4-stars, or of cliques, by construction."""

from collections.abc import Callable, Iterable
from itertools import combinations, product

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.graph import Edge, Graph, names, random_edges

Triples = tuple[tuple[int, ...], ...]


def plant_parts(
    rng: np.random.Generator, vertices: int, parts: int, stars: bool
) -> tuple[Graph, Triples]:
    """A graph made of edge-disjoint triangles (and, if asked, 4-stars), and these parts.

    Parts are drawn one by one; one that would reuse an edge is drawn again.  Edges are shuffled,
    so their ranks tell nothing.
    """

    def draw() -> Iterable[Edge]:
        star = stars and bool(rng.random() < 0.5)
        corner = rng.choice(vertices, 4 if star else 3, replace=False).tolist()
        return ((corner[0], v) for v in corner[1:]) if star else combinations(corner, 2)

    return _planted(rng, vertices, parts, draw)


def plant_cliques(
    rng: np.random.Generator, vertices: int, parts: int, size: int
) -> tuple[Graph, Triples]:
    """A graph made of edge-disjoint cliques of ``size`` vertices, and these as edge numbers."""

    def draw() -> Iterable[Edge]:
        return combinations(sorted(rng.choice(vertices, size, replace=False).tolist()), 2)

    return _planted(rng, vertices, parts, draw)


def _planted(
    rng: np.random.Generator, vertices: int, parts: int, draw: Callable[[], Iterable[Edge]]
) -> tuple[Graph, Triples]:
    chosen: list[list[Edge]] = []
    used: set[Edge] = set()
    for _ in range(200 * parts + 200):
        if len(chosen) == parts:
            break
        part = [(min(pair), max(pair)) for pair in draw()]
        if not used.intersection(part):
            used.update(part)
            chosen.append(part)
    return _shuffled(rng, names(vertices), chosen, parts)


def plant_tripartite(
    rng: np.random.Generator, side: int, parts: int
) -> tuple[Graph, Triples, tuple[int, ...]]:
    """A tripartite graph of edge-disjoint triangles, ``side`` vertices on each side.

    Also returns the triangles and each vertex's side.  Triangles are the cells of a Latin square
    with rows, columns and symbols renamed, so there is room for side² of them.
    """
    if parts > side * side:
        raise InputError(f"{side} vertices a side hold at most {side * side} triangles")
    rows, columns, symbols = (rng.permutation(side) for _ in range(3))
    chosen: list[list[Edge]] = []
    for cell in rng.choice(side * side, parts, replace=False):
        i, j = divmod(int(cell), side)
        a, b, c = int(rows[i]), int(columns[j]), int(symbols[(i + j) % side])
        chosen.append(list(combinations((a, side + b, 2 * side + c), 2)))
    graph, triangles = _shuffled(rng, side_names(side), chosen, parts)
    return graph, triangles, side_colours(side)


def side_colours(side: int) -> tuple[int, ...]:
    """The side of each vertex of a tripartite graph."""
    return (0,) * side + (1,) * side + (2,) * side


def random_tripartite(rng: np.random.Generator, side: int, parts: int) -> Graph:
    """A tripartite graph with ``parts`` edges between each two sides."""
    edges: list[Edge] = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        pool = list(product(range(a * side, a * side + side), range(b * side, b * side + side)))
        edges += random_edges(rng, pool, parts)
    return Graph.of(side_names(side), [edges[int(i)] for i in rng.permutation(len(edges))])


def side_names(side: int) -> tuple[str, ...]:
    """Names a1.., b1.., c1.. of the vertices of a tripartite graph."""
    return tuple(name for letter in "abc" for name in names(side, letter))


def _shuffled(
    rng: np.random.Generator, vertices: tuple[str, ...], chosen: list[list[Edge]], parts: int
) -> tuple[Graph, Triples]:
    if len(chosen) < parts:
        raise InputError(
            f"found room for {len(chosen)} of {parts} parts: ask for fewer, or for more vertices"
        )
    edges = [edge for part in chosen for edge in part]
    graph = Graph.of(vertices, [edges[int(i)] for i in rng.permutation(len(edges))])
    number = graph.edge_number
    return graph, tuple(tuple(sorted(number[edge] for edge in part)) for part in chosen)
