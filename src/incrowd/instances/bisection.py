"""Minimum bisection → (n/2)-anonymity."""

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.base import Option, Options, whole
from incrowd.instances.graph import Graph, OfGraph, names, random_edges, random_graph
from incrowd.instances.table import HardTable, ModelSpec, Partition, from_labels

Half = tuple[int, ...]
"""An answer: the vertices of the half that holds vertex 0."""


@dataclass(frozen=True)
class Bisection(OfGraph):
    """Minimum bisection → (n/2)-anonymity: a column is starred in each half its edge touches."""

    id: ClassVar[str] = "bisection"
    source: ClassVar[str] = "Liang and Yuan 2012, Theorem 3"
    problem: ClassVar[str] = "cut the n vertices into equal halves with the fewest edges between"
    equation: ClassVar[str] = "optimum = n·(|E| + cut) / 2, cut the fewest edges between halves"
    decision: ClassVar[bool] = False
    options: ClassVar[tuple[Option, ...]] = (
        Option("vertices", 8, "vertices of the graph, an even number"),
        Option("edges", 14, "edges of a random graph; planted: between two cliques, n - 2 at most"),
    )

    def __post_init__(self) -> None:
        n = self.graph.order
        if n < 4 or n % 2 or not self.graph.edges:
            raise InputError(f"the graph needs edges and an even number ≥ 4 of vertices, not {n}")

    @classmethod
    def make(
        cls, rng: np.random.Generator, planted: bool, options: Options
    ) -> "tuple[Bisection, Half | None]":
        """Draw a graph; if planted, two cliques with few edges between them.

        Any other bisection swaps s vertices, 1 ≤ s < h = n/2, and cuts 2s(h − s) ≥ 2(h − 1) edges
        of the cliques; so at most 2(h − 1) edges between them are a least cut.
        """
        vertices, edges = whole(options, "vertices", 4), whole(options, "edges", 1)
        if not planted:
            return cls(random_graph(rng, vertices, edges)), None
        half = vertices // 2
        if edges > 2 * (half - 1):
            edges = 2 * (half - 1)
        place = [int(v) for v in rng.permutation(vertices)]
        sides = place[:half], place[half:]
        chosen = [pair for side in sides for pair in combinations(side, 2)]
        chosen += random_edges(rng, [(a, b) for a in sides[0] for b in sides[1]], edges)
        graph = Graph.of(names(vertices), [chosen[int(i)] for i in rng.permutation(len(chosen))])
        return cls(graph), tuple(sorted(sides[0] if 0 in sides[0] else sides[1]))

    def to_table(self) -> HardTable:
        """Row i, column j: i + 1 if vertex i is an end of edge j, else 0; k = n/2."""
        graph, n = self.graph, self.graph.order
        codes = np.zeros((n, len(graph.edges)), np.int32)
        for column, ends in enumerate(graph.edges):
            codes[list(ends), column] = [v + 1 for v in ends]
        return HardTable(
            tuple(f"e{j + 1}" for j in range(len(graph.edges))),
            tuple(str(i) for i in range(n + 1)),
            codes,
            ModelSpec("k-anonymity", k=n // 2),
            tuple(f"vertex {name}" for name in graph.vertices),
        )

    def cut(self, half: Half) -> int:
        """Number of edges with one end in the half."""
        inside = set(half)
        return sum((a in inside) != (b in inside) for a, b in self.graph.edges)

    def solve_source(self) -> Half:
        """Try every half that holds vertex 0."""
        n = self.graph.order
        halves = ((0, *rest) for rest in combinations(range(1, n), n // 2 - 1))
        return min(halves, key=self.cut)

    def source_to_solution(self, answer: Half) -> Partition:
        """The two halves."""
        return from_labels([int(v in answer) for v in range(self.graph.order)])

    def solution_to_source(self, partition: Partition) -> Half:
        """The class of vertex 0; of a single class, which costs n·|E|, any half does no worse."""
        group = next(group for group in partition if 0 in group)
        return tuple(sorted(group))[: self.graph.order // 2]

    def cost_of(self, answer: Half) -> int:
        """n·(|E| + cut) / 2."""
        return self.graph.order * (len(self.graph.edges) + self.cut(answer)) // 2
