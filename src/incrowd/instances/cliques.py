"""Cliques → k-anonymity: with k = 2h², and with k a share between n/3 and n/2."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import ClassVar, Self

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.base import Option, Options, whole
from incrowd.instances.edge_partition import edge_columns, edge_meaning
from incrowd.instances.graph import Edge, Graph, OfGraph, names, random_edges, random_graph
from incrowd.instances.table import HardTable, ModelSpec, Partition, from_labels

Members = tuple[int, ...]
"""An answer: the vertices of a clique."""


def find_clique(graph: Graph, size: int) -> Members | None:
    """A clique of the given size by backtracking, or None."""

    def grow(clique: Members, left: frozenset[int]) -> Members | None:
        if len(clique) == size:
            return clique
        for v in sorted(left):
            if len(left) < size - len(clique):
                return None
            left = left - {v}
            found = grow((*clique, v), left & graph.adjacency[v])
            if found is not None:
                return found
        return None

    return grow((), frozenset(range(graph.order)))


def plant_clique(
    rng: np.random.Generator, vertices: int, edges: int, size: int
) -> tuple[Graph, Members]:
    """A random graph of the given size that contains a clique, and this clique."""
    members = tuple(sorted(int(v) for v in rng.choice(vertices, size, replace=False)))
    inside = list(combinations(members, 2))
    outside: list[Edge] = sorted(set(combinations(range(vertices), 2)) - set(inside))
    if edges < len(inside):
        raise InputError(f"a clique of {size} vertices has {len(inside)} edges, not {edges}")
    every = inside + random_edges(rng, outside, edges - len(inside))
    mixed = [every[int(i)] for i in rng.permutation(len(every))]
    return Graph.of(names(vertices), mixed), members


def draw(
    rng: np.random.Generator, planted: bool, vertices: int, edges: int, size: int
) -> tuple[Graph, Members | None]:
    """A random graph, with a clique of ``size`` vertices if planted."""
    if not planted:
        return random_graph(rng, vertices, edges), None
    if size > vertices:
        raise InputError(f"{vertices} vertices hold no clique of {size}")
    return plant_clique(rng, vertices, edges, size)


@dataclass(frozen=True)
class OfClique(OfGraph):
    """What families share whose source is a clique of ``h`` vertices."""

    h: int = 3

    problem: ClassVar[str] = "find h pairwise adjacent vertices"
    decision: ClassVar[bool] = True
    options: ClassVar[tuple[Option, ...]] = (
        Option("h", 3, "size of the clique, at least 2", of_table=True),
        Option("vertices", 7, "vertices of the graph"),
        Option("edges", 10, "edges of the graph"),
    )

    @classmethod
    def make(
        cls, rng: np.random.Generator, planted: bool, options: Options
    ) -> tuple[Self, Members | None]:
        """Draw a graph, with an h-clique if planted."""
        h, vertices = whole(options, "h", 2), whole(options, "vertices", 2)
        graph, answer = draw(rng, planted, vertices, whole(options, "edges", 1), h)
        return cls.of(graph, options), answer

    def solve_source(self) -> Members | None:
        """Backtracking."""
        return find_clique(self.graph, self.h)


@dataclass(frozen=True)
class Clique(OfClique):
    """h-clique → k-anonymity with k = 2h²: a group short of C(h, 2) rows must borrow edges."""

    id: ClassVar[str] = "clique"
    source: ClassVar[str] = "Bonizzoni, Della Vedova, Dondi and Pirola 2009, section 3"
    equation: ClassVar[str] = "optimum = 6·h³ iff there is an h-clique, else it is higher"

    def __post_init__(self) -> None:
        # With h = 1 the group of zeros is large enough by itself and the optimum is 0, not 6.
        if self.h < 2:
            raise InputError(f"h must be at least 2, not {self.h}")
        if not self.graph.edges:
            raise InputError("the graph has no edge")

    @property
    def k(self) -> int:
        """2h²."""
        return 2 * self.h**2

    @property
    def zeros(self) -> int:
        """Rows of zeros: C(h, 2) short of k."""
        return self.k - comb(self.h, 2)

    def to_table(self) -> HardTable:
        """The rows of zeros, then k + 1 equal rows for each edge."""
        graph, h = self.graph, self.h
        copies = self.k + 1
        codes = np.zeros((self.zeros + copies * len(graph.edges), 2 * h + graph.order), np.int32)
        for number, ends in enumerate(graph.edges):
            rows = slice(self.zeros + number * copies, self.zeros + (number + 1) * copies)
            codes[rows, : 2 * h] = 2 + number
            codes[rows, [2 * h + v for v in ends]] = 1
        return HardTable(
            tuple(f"p{j + 1}" for j in range(2 * h)) + edge_columns(graph),
            ("0", "1", *(f"s{number + 1}" for number in range(len(graph.edges)))),
            codes,
            ModelSpec("k-anonymity", k=self.k),
            ("zero",) * self.zeros + tuple(e for e in edge_meaning(graph) for _ in range(copies)),
            threshold=6 * h**3,
        )

    def source_to_solution(self, answer: Members) -> Partition:
        """The zeros borrow one row from each edge of the clique."""
        borrowed = set(combinations(sorted(answer), 2))
        copies = self.k + 1
        label = [0] * self.zeros
        for number, edge in enumerate(self.graph.edges):
            label += [0 if edge in borrowed else number + 1] + [number + 1] * (copies - 1)
        return from_labels(label)

    def solution_to_source(self, partition: Partition) -> Members | None:
        """The vertices of the edges that the zeros borrow from, if they are an h-clique."""
        group = next(group for group in partition if 0 in group)
        numbers = {(row - self.zeros) // (self.k + 1) for row in group if row >= self.zeros}
        members = tuple(sorted({v for number in numbers for v in self.graph.edges[number]}))
        return members if len(members) == self.h and self.graph.is_clique(members) else None

    def cost_of(self, answer: Members) -> int:
        """6h³."""
        return 6 * self.h**3


@dataclass(frozen=True)
class HalfClique(OfGraph):
    """A clique on half the vertices → (cn)-anonymity with 1/3 < c < 1/2."""

    c: Fraction = Fraction(2, 5)

    id: ClassVar[str] = "half-clique"
    source: ClassVar[str] = "Liang and Yuan 2012, Theorem 5"
    problem: ClassVar[str] = "find n/2 pairwise adjacent vertices among n"
    equation: ClassVar[str] = (
        "optimum ≤ n'·|E| − (n/2)·C(n/2, 2) iff there is a clique on n/2 of the n vertices"
    )
    decision: ClassVar[bool] = True
    options: ClassVar[tuple[Option, ...]] = (
        Option("c", Fraction(2, 5), "k as a share of the rows, above 1/3, below 1/2", True),
        Option("vertices", 8, "vertices of the graph, an even number"),
        Option("edges", 14, "edges of the graph"),
    )

    def __post_init__(self) -> None:
        n = self.graph.order
        if not Fraction(1, 3) < self.c < Fraction(1, 2):
            raise InputError(f"c must lie between 1/3 and 1/2, not {self.c}")
        if n < 4 or n % 2 or not self.graph.edges:
            raise InputError(f"the graph needs edges and an even number ≥ 4 of vertices, not {n}")
        if not n < self.rows < n + n // 2:
            raise InputError(
                f"c = {self.c} asks for {self.rows} rows, but from {n + 1} to {n + n // 2 - 1} "
                "are needed: take more vertices or another c"
            )

    @property
    def rows(self) -> int:
        """n' = ⌊n / 2c⌋; then ⌈c·n'⌉ = n/2."""
        return int(self.graph.order / (2 * self.c))

    @classmethod
    def make(
        cls, rng: np.random.Generator, planted: bool, options: Options
    ) -> "tuple[HalfClique, Members | None]":
        """Draw a graph, with a clique on half the vertices if planted."""
        vertices, edges = whole(options, "vertices", 4), whole(options, "edges", 1)
        graph, answer = draw(rng, planted, vertices, edges, vertices // 2)
        return cls.of(graph, options), answer

    def to_table(self) -> HardTable:
        """Row i has i in the columns of the edges at vertex i; new rows have theirs everywhere."""
        graph, n = self.graph, self.graph.order
        codes = np.zeros((self.rows, len(graph.edges)), np.int32)
        codes[n:] = np.arange(n + 1, self.rows + 1)[:, None]
        for column, ends in enumerate(graph.edges):
            codes[list(ends), column] = [v + 1 for v in ends]
        return HardTable(
            tuple(f"e{j + 1}" for j in range(len(graph.edges))),
            tuple(str(i) for i in range(self.rows + 1)),
            codes,
            ModelSpec("k-anonymity", k=n // 2),
            tuple(f"vertex {v}" for v in graph.vertices) + ("new row",) * (self.rows - n),
            threshold=self.cost_of(()),
        )

    def solve_source(self) -> Members | None:
        """Backtracking."""
        return find_clique(self.graph, self.graph.order // 2)

    def source_to_solution(self, answer: Members) -> Partition:
        """The vertices outside the clique are a class, all other rows another."""
        clique = set(answer)
        return from_labels(
            [int(row < self.graph.order and row not in clique) for row in range(self.rows)]
        )

    def solution_to_source(self, partition: Partition) -> Members | None:
        """The vertices that share a class with new rows, if they are a clique on half of them."""
        n = self.graph.order
        mixed = {row for group in partition if max(group) >= n for row in group}
        members = tuple(sorted(row for row in mixed if row < n))
        return members if 2 * len(members) == n and self.graph.is_clique(members) else None

    def cost_of(self, answer: Members) -> int:
        """n'·|E| − (n/2)·C(n/2, 2)."""
        half = self.graph.order // 2
        return self.rows * len(self.graph.edges) - half * comb(half, 2)


@dataclass(frozen=True)
class AnyClique(OfClique):
    """A clique of any size → a clique on half the vertices → (cn)-anonymity, 1/3 < c < 1/2."""

    c: Fraction = Fraction(2, 5)

    id: ClassVar[str] = "any-clique"
    source: ClassVar[str] = "Liang and Yuan 2012, proof of Theorem 5 (Clique to HalfClique)"
    equation: ClassVar[str] = (
        "optimum ≤ n'·|E'| − (n/2)·C(n/2, 2) iff there is an h-clique; n vertices and |E'| edges "
        "of the graph padded until the clique is to have half of its vertices"
    )
    options: ClassVar[tuple[Option, ...]] = (
        OfClique.options[0],
        HalfClique.options[0],
        *OfClique.options[1:],
    )

    def __post_init__(self) -> None:
        if not 2 <= self.h <= self.graph.order:
            raise InputError(f"h must be from 2 to the number of vertices, not {self.h}")
        self.padded()  # raises for a share c that leaves no room

    def padded(self) -> HalfClique:
        """The graph with lone vertices (h ≥ n/2), or with vertices adjacent to all (h < n/2)."""
        order = self.graph.order
        extra = range(order, order + abs(2 * self.h - order))
        edges = list(self.graph.edges)
        if 2 * self.h < order:
            edges += [(v, new) for new in extra for v in range(new)]
        known = set(self.graph.vertices)
        mark = "new"
        while any(f"{mark}{i + 1}" in known for i in range(len(extra))):
            mark += "_"
        return HalfClique(Graph.of(self.graph.vertices + names(len(extra), mark), edges), self.c)

    def to_table(self) -> HardTable:
        """The table of ``half-clique`` for the padded graph."""
        return self.padded().to_table()

    def source_to_solution(self, answer: Members) -> Partition:
        """The clique, with the vertices adjacent to all, shares a class with the new rows."""
        half, order = self.padded(), self.graph.order
        universal = range(order, half.graph.order) if 2 * self.h < order else ()
        return half.source_to_solution((*answer, *universal))

    def solution_to_source(self, partition: Partition) -> Members | None:
        """The first h old vertices of the half clique, if the release holds one."""
        found = self.padded().solution_to_source(partition)
        old = tuple(v for v in found or () if v < self.graph.order)
        return old[: self.h] if len(old) >= self.h else None

    def cost_of(self, answer: Members) -> int:
        """n'·|E'| − (n/2)·C(n/2, 2) of the padded graph."""
        return self.padded().cost_of(())
