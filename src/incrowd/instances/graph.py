"""Simple graphs: edge lists, triangles and 4-stars, colourings, and random graphs."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.base import FromFile

Edge = tuple[int, int]


@dataclass(frozen=True)
class Graph:
    """A simple undirected graph.

    Attributes
    ----------
    vertices: names.
    edges: pairs of vertex numbers, smaller first, in their given order (the order is the rank
        that some reductions use).
    """

    vertices: tuple[str, ...]
    edges: tuple[Edge, ...]

    @classmethod
    def parse(cls, text: str) -> "Graph":
        """Read an edge list: two names a line, one name for a lone vertex, ``#`` for comments.

        Vertices stand in natural order of their names: v2 before v10.
        Raises InputError for loops, repeated edges and malformed lines.
        """
        names: dict[str, None] = {}
        pairs: list[tuple[str, str]] = []
        for number, line in enumerate(text.splitlines(), 1):
            words = line.partition("#")[0].replace(",", " ").split()
            if len(words) > 2:
                raise InputError(f"edge list, line {number}: expected two names, not {len(words)}")
            names.update(dict.fromkeys(words))
            if len(words) == 2:
                if words[0] == words[1]:
                    raise InputError(f"edge list, line {number}: an edge from a vertex to itself")
                pairs.append((words[0], words[1]))
        order = sorted(names, key=lambda name: (_natural(name), name))
        place = {name: i for i, name in enumerate(order)}
        return cls.of(order, [(place[a], place[b]) for a, b in pairs])

    @classmethod
    def of(cls, vertices: Iterable[str], edges: Iterable[Edge]) -> "Graph":
        """Build with every edge turned smaller end first; raises InputError if one is repeated."""
        turned = [(min(e), max(e)) for e in edges]
        if len(set(turned)) < len(turned):
            raise InputError("the graph must be simple: an edge occurs twice")
        return cls(tuple(vertices), tuple(turned))

    def text(self) -> str:
        """The edge list, lone vertices last."""
        lines = [f"{self.vertices[a]} {self.vertices[b]}" for a, b in self.edges]
        lines += [self.vertices[v] for v, near in enumerate(self.adjacency) if not near]
        return "\n".join(lines) + "\n"

    @property
    def order(self) -> int:
        """Number of vertices."""
        return len(self.vertices)

    @cached_property
    def adjacency(self) -> tuple[frozenset[int], ...]:
        """The neighbours of each vertex."""
        near: list[set[int]] = [set() for _ in self.vertices]
        for a, b in self.edges:
            near[a].add(b)
            near[b].add(a)
        return tuple(frozenset(s) for s in near)

    @cached_property
    def incident(self) -> tuple[tuple[int, ...], ...]:
        """The edge numbers at each vertex."""
        at: list[list[int]] = [[] for _ in self.vertices]
        for number, edge in enumerate(self.edges):
            for v in edge:
                at[v].append(number)
        return tuple(tuple(numbers) for numbers in at)

    @cached_property
    def edge_number(self) -> dict[Edge, int]:
        """The number of each edge."""
        return {edge: number for number, edge in enumerate(self.edges)}

    def triangles(self) -> list[tuple[int, int, int]]:
        """Every triangle, as three edge numbers."""
        number = self.edge_number
        return [
            (number[a, b], number[a, c], number[b, c])
            for a, b in self.edges
            for c in sorted(self.adjacency[a] & self.adjacency[b])
            if c > b
        ]

    def stars(self) -> list[tuple[int, int, int]]:
        """Every 4-star, as three edge numbers."""
        return [star for at in self.incident for star in combinations(at, 3)]

    def cliques(self, size: int) -> list[tuple[int, ...]]:
        """Every clique of ``size`` ≥ 2 vertices, as the numbers of its edges."""
        found: list[tuple[int, ...]] = [(v,) for v in range(self.order)]
        for _ in range(size - 1):
            found = [
                (*some, v)
                for some in found
                for v in sorted(frozenset.intersection(*(self.adjacency[u] for u in some)))
                if v > some[-1]
            ]
        number = self.edge_number
        return [tuple(number[pair] for pair in combinations(some, 2)) for some in found]

    def is_triangle(self, edges: Iterable[int]) -> bool:
        """Whether some edge numbers are the three edges of a triangle."""
        ends = [self.edges[e] for e in edges]
        return len(set(ends)) == 3 and len({v for edge in ends for v in edge}) == 3

    def centre(self, edges: Iterable[int]) -> int | None:
        """The middle vertex if some edge numbers are a 4-star, else None."""
        ends = {self.edges[e] for e in edges}
        shared = set.intersection(*(set(edge) for edge in ends)) if len(ends) == 3 else set()
        return shared.pop() if shared else None

    def is_clique(self, vertices: Iterable[int]) -> bool:
        """Whether the vertices are pairwise adjacent."""
        return all(b in self.adjacency[a] for a, b in combinations(sorted(vertices), 2))

    def colouring(self, colours: int) -> tuple[int, ...] | None:
        """A proper colouring by backtracking on the most constrained vertex, or None."""
        colour: list[int] = [-1] * self.order
        # Vertices in the order they were coloured, each with the colours still to try.
        trail: list[tuple[int, list[int]]] = []

        def free(v: int, fresh: int) -> list[int]:
            used = {colour[w] for w in self.adjacency[v]}
            # Colours are interchangeable: of those not used anywhere yet, one is enough.
            return [c for c in range(min(colours, fresh + 1)) if c not in used]

        while len(trail) < self.order:
            fresh = max(colour, default=-1) + 1
            left = [v for v in range(self.order) if colour[v] < 0]
            v = min(left, key=lambda u: (len(free(u, fresh)), -len(self.adjacency[u])))
            trail.append((v, free(v, fresh)))
            while trail and not trail[-1][1]:
                colour[trail.pop()[0]] = -1
            if not trail:
                return None
            last, choices = trail[-1]
            colour[last] = choices.pop(0)
        return tuple(colour)


@dataclass(frozen=True)
class OfGraph(FromFile):
    """What families of a graph share: their file is its edge list."""

    graph: Graph

    form: ClassVar[type[Graph]] = Graph
    file_format: ClassVar[str] = "edge list"


def _natural(name: str) -> list[str | int]:
    """Text and numbers in turn, so that numbers compare as numbers."""
    return [int(w) if i % 2 else w for i, w in enumerate(re.split(r"([0-9]+)", name))]


def names(size: int, prefix: str = "") -> tuple[str, ...]:
    """The vertex names 1..size."""
    return tuple(f"{prefix}{i + 1}" for i in range(size))


def random_edges(rng: np.random.Generator, pool: list[Edge], size: int) -> list[Edge]:
    """Draw edges without repetition; raises InputError when there are too few."""
    if size > len(pool):
        raise InputError(f"only {len(pool)} edges are possible, not {size}: take more vertices")
    return [pool[int(i)] for i in rng.choice(len(pool), size, replace=False)]


def random_pairs(rng: np.random.Generator, vertices: int, size: int) -> list[Edge]:
    """Draw pairs of vertices without repetition; raises InputError when there are too few."""
    possible = vertices * (vertices - 1) // 2
    if 3 * size > possible:
        return random_edges(rng, list(combinations(range(vertices), 2)), size)
    # Sparse: drawing again what was drawn before is cheaper than listing all pairs.
    chosen: dict[Edge, None] = {}
    while len(chosen) < size:
        for a, b in rng.integers(vertices, size=(size - len(chosen), 2)).tolist():
            if a != b:
                chosen[min(a, b), max(a, b)] = None
    return list(chosen)


def random_graph(rng: np.random.Generator, vertices: int, edges: int) -> Graph:
    """A graph drawn evenly from those of this size."""
    return Graph.of(names(vertices), random_pairs(rng, vertices, edges))
