"""Vertex cover on cubic graphs → 3-anonymity with three columns."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.base import Option, Options, whole
from incrowd.instances.graph import Edge, Graph, OfGraph, names
from incrowd.instances.table import HardTable, ModelSpec, Partition, encode, from_labels

Cover = tuple[int, ...]
"""An answer: vertices that touch every edge."""


def smallest_cover(graph: Graph) -> Cover:
    """A smallest vertex cover: branch on an edge not covered, cut off at the best found."""
    best: Cover = tuple(range(graph.order))

    def search(chosen: frozenset[int]) -> None:
        nonlocal best
        if len(chosen) >= len(best):
            return
        for a, b in graph.edges:
            if a not in chosen and b not in chosen:
                search(chosen | {a})
                # Without a, all its neighbours must be in.
                search(chosen | graph.adjacency[a])
                return
        best = tuple(sorted(chosen))

    search(frozenset())
    return best


def random_cubic(rng: np.random.Generator, vertices: int) -> Graph:
    """A random cubic graph by the pairing model: draw again until it is simple."""
    for _ in range(2000):
        ends = rng.permutation(np.repeat(np.arange(vertices), 3)).reshape(-1, 2)
        edges = {(int(min(e)), int(max(e))) for e in ends}
        if len(edges) == len(ends) and all(a != b for a, b in edges):
            return Graph.of(names(vertices), sorted(edges))
    raise InputError(f"found no simple cubic graph on {vertices} vertices")


def bipartite_cubic(rng: np.random.Generator, vertices: int) -> Graph:
    """A cubic bipartite graph: three shifts between two sides, renamed at random.

    Each vertex covers three of the 3n/2 edges, so a cover has n/2 vertices at least; either side
    is one.
    """
    half = vertices // 2
    first, second = rng.permutation(half), rng.permutation(half)
    shifts = rng.choice(half, 3, replace=False)
    edges: list[Edge] = [
        (int(first[i]), half + int(second[(i + int(s)) % half]))
        for i in range(half)
        for s in shifts
    ]
    return Graph.of(names(vertices), [edges[int(i)] for i in rng.permutation(len(edges))])


@dataclass(frozen=True)
class CubicVertexCover(OfGraph):
    """Vertex cover → 3-anonymity: nine rows a vertex, seven an edge, three more.

    A vertex outside the cover (*type b*) lends its three pairs of equal rows to its edges, which
    saves one star on each of them.
    """

    id: ClassVar[str] = "cubic-vertex-cover"
    source: ClassVar[str] = "Bonizzoni, Della Vedova, Dondi and Pirola 2009, section 5"
    problem: ClassVar[str] = "smallest set of vertices that touches every edge of a cubic graph"
    equation: ClassVar[str] = "optimum = 6·|V| + 3·|C| + 11·|E| + 9, C a smallest vertex cover"
    decision: ClassVar[bool] = False
    options: ClassVar[tuple[Option, ...]] = (
        Option("vertices", 10, "vertices, an even number of at least 4 (6 if planted)"),
    )

    def __post_init__(self) -> None:
        if not self.graph.edges or any(len(near) != 3 for near in self.graph.adjacency):
            raise InputError("the graph must be cubic: every vertex has exactly three neighbours")

    @classmethod
    def make(
        cls, rng: np.random.Generator, planted: bool, options: Options
    ) -> "tuple[CubicVertexCover, Cover | None]":
        """Draw a cubic graph; if planted a bipartite one, of which one side is a best cover."""
        vertices = whole(options, "vertices", 6 if planted else 4)
        if vertices % 2:
            raise InputError(f"a cubic graph has an even number of vertices, not {vertices}")
        if not planted:
            return cls(random_cubic(rng, vertices)), None
        return cls(bipartite_cubic(rng, vertices)), tuple(range(vertices // 2))

    @cached_property
    def ports(self) -> tuple[tuple[int, int], ...]:
        """For each edge, which of its ends' three pairs of rows it may borrow (0, 1 or 2)."""
        at = self.graph.incident
        return tuple((at[a].index(e), at[b].index(e)) for e, (a, b) in enumerate(self.graph.edges))

    def first_row(self, edge: int) -> int:
        """The first of an edge's seven rows; vertex v has rows 9v..9v+8."""
        return 9 * self.graph.order + 7 * edge

    def to_table(self) -> HardTable:
        """Rows of the vertices, of the edges, and the three that no other row resembles.

        Vertex v: its pair h at 2h, 2h + 1; the row next to pair h at 6 + h.  Edge (i, j): the row
        next to i's pair, two in the middle, the row next to j's pair, and three more.
        """
        rows: list[tuple[str, ...]] = []
        meaning: list[str] = []
        for name in self.graph.vertices:
            for h in (1, 2, 3):
                rows += [(f"v{name}.{h}", f"v{name}", f"v{name}.{h}")] * 2
            rows += [(f"v{name}", f"v{name}", f"v{name}.{h}") for h in (1, 2, 3)]
            meaning += [f"vertex {name}"] * 9
        for (a, b), (x, y) in zip(self.graph.edges, self.ports, strict=True):
            i, j = self.graph.vertices[a], self.graph.vertices[b]
            left, right, own = f"v{i}.{x + 1}", f"v{j}.{y + 1}", f"e{i}-{j}"
            rows += [(left, own, left), (left, own, right), (left, own, right), (right, own, right)]
            rows += [(f"{own}.{t}", own, f"{own}.{t}") for t in (4, 5, 6)]
            meaning += [f"edge {i} {j}"] * 7
        rows += [(f"w{i}",) * 3 for i in (1, 2, 3)]
        alphabet, codes = encode(rows)
        columns, model = ("a", "b", "c"), ModelSpec("k-anonymity", k=3)
        return HardTable(columns, alphabet, codes, model, (*meaning, *["extra"] * 3))

    def solve_source(self) -> Cover:
        """Branch and bound."""
        return smallest_cover(self.graph)

    def source_to_solution(self, answer: Cover) -> Partition:
        """Type a for the vertices of the cover, type b for the others."""
        cover = set(answer)
        label = [-1] * (self.first_row(len(self.graph.edges)) + 3)
        for v in range(self.graph.order):
            for h in range(3):
                # Row 6 + h joins its pair (type a) or its two like (type b).
                label[9 * v + 2 * h] = label[9 * v + 2 * h + 1] = 4 * v + h
                label[9 * v + 6 + h] = 4 * v + h if v in cover else 4 * v + 3
        for e, (a, b) in enumerate(self.graph.edges):
            row, spare = self.first_row(e), 4 * self.graph.order + 2 * e
            (x, y), last = self.ports[e], spare + 1
            label[row + 4 : row + 7] = [last] * 3
            label[row + 1 : row + 3] = [spare] * 2
            # The pair in the middle takes the row next to an end in the cover; of two such rows
            # one goes to the last three.
            label[row + 3] = spare if b in cover else 4 * b + y
            label[row] = (last if b in cover else spare) if a in cover else 4 * a + x
        label[-3:] = [-2] * 3
        return from_labels(label)

    def solution_to_source(self, partition: Partition) -> Cover:
        """A cover of at most (cost − 6·|V| − 11·|E| − 9) / 3 vertices.

        Vertices that are of type b in the release stay outside the cover, one by one, unless a
        neighbour does (Lemmas 16 and 17); then every other vertex that can.
        """
        place = {row: group for group in partition for row in group}

        def type_b(v: int) -> bool:
            if set(place[9 * v + 6]) != {9 * v + 6, 9 * v + 7, 9 * v + 8}:
                return False
            for h, e in enumerate(self.graph.incident[v]):
                next_row = self.first_row(e) + (0 if self.graph.edges[e][0] == v else 3)
                if set(place[next_row]) != {9 * v + 2 * h, 9 * v + 2 * h + 1, next_row}:
                    return False
            return True

        outside: set[int] = set()
        for v in sorted(range(self.graph.order), key=lambda v: not type_b(v)):
            if not outside & self.graph.adjacency[v]:
                outside.add(v)
        return tuple(v for v in range(self.graph.order) if v not in outside)

    def cost_of(self, answer: Cover) -> int:
        """6·|V| + 3·|C| + 11·|E| + 9."""
        return 6 * self.graph.order + 3 * len(answer) + 11 * len(self.graph.edges) + 9
