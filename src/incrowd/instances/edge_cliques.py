"""Splitting a graph's edges into cliques: k = C(r, 2) and its multiples, and 2-diversity."""

from dataclasses import dataclass
from math import comb
from typing import ClassVar

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.base import Option, Options, whole
from incrowd.instances.edge_partition import (
    Parts,
    Triangles,
    as_triangles,
    block_codes,
    block_columns,
    edge_columns,
    edge_meaning,
    first_cover,
    incidence,
)
from incrowd.instances.graph import OfGraph, random_graph
from incrowd.instances.planting import plant_cliques
from incrowd.instances.table import HardTable, ModelSpec, Partition


@dataclass(frozen=True)
class EdgeCliques(OfGraph):
    """Edges into r-cliques → k-anonymity with k = α·C(r, 2), each edge α times a row.

    A class has at least C(r, 2) different edges, so it touches at least r vertices, exactly r iff
    it is a clique; every vertex that some of its edges touch and others do not is starred.
    """

    r: int = 4
    copies: int = 1
    alphabet: str = "ternary"

    id: ClassVar[str] = "edge-cliques"
    source: ClassVar[str] = "Aggarwal et al. 2005, last paragraph of section 3"
    problem: ClassVar[str] = "split the edges of a graph into cliques of r vertices"
    equation: ClassVar[str] = (
        "optimum = α·|E|·r·t iff the edges split into r-cliques; k = α·C(r, 2), α copies of "
        "each edge, t = ⌈log2(|E| + 1)⌉ blocks (binary: t = 1)"
    )
    decision: ClassVar[bool] = True
    options: ClassVar[tuple[Option, ...]] = (
        Option("r", 4, "vertices of a clique, at least 3", of_table=True),
        Option("copies", 1, "rows for each edge (α), at least 1", of_table=True),
        Option(
            "alphabet",
            "ternary",
            "ternary: the paper's blocks; binary: the incidence matrix alone, for r of 4 and more",
            of_table=True,
            choices=("ternary", "binary"),
        ),
        Option("vertices", 9, "vertices of the graph"),
        Option("parts", 3, "cliques planted; a random graph gets as many edges"),
    )

    def __post_init__(self) -> None:
        if self.r < 3 or self.copies < 1:
            raise InputError(f"r must be at least 3 and copies 1, not {self.r} and {self.copies}")
        if self.alphabet not in ("ternary", "binary"):
            raise InputError(f"alphabet must be ternary or binary, not {self.alphabet!r}")
        if self.alphabet == "binary" and self.r == 3:
            # Three edges at one vertex cost 3 stars a row there, as a triangle does.
            raise InputError("the binary alphabet needs r of 4 or more; with r = 3 take ternary")
        if len(self.graph.edges) < comb(self.r, 2):
            raise InputError(f"a clique of {self.r} vertices has {comb(self.r, 2)} edges")

    @classmethod
    def make(
        cls, rng: np.random.Generator, planted: bool, options: Options
    ) -> "tuple[EdgeCliques, Parts | None]":
        """Draw a graph, made of r-cliques if planted."""
        r, parts = whole(options, "r", 3), whole(options, "parts", 1)
        vertices = whole(options, "vertices", r)
        if not planted:
            return cls.of(random_graph(rng, vertices, comb(r, 2) * parts), options), None
        graph, answer = plant_cliques(rng, vertices, parts, r)
        return cls.of(graph, options), answer

    @property
    def blocks(self) -> int:
        """t: the binary digits that ranks 1..|E| need; 1 for the binary alphabet."""
        return 1 if self.alphabet == "binary" else len(self.graph.edges).bit_length()

    def to_table(self) -> HardTable:
        """The copies of each edge stand together; k = α·C(r, 2)."""
        graph, binary = self.graph, self.alphabet == "binary"
        codes = incidence(graph) if binary else block_codes(graph, self.blocks)
        return HardTable(
            edge_columns(graph) if binary else block_columns(graph, self.blocks),
            ("0", "1") if binary else ("0", "1", "2"),
            np.repeat(codes, self.copies, axis=0),
            ModelSpec("k-anonymity", k=self.copies * comb(self.r, 2)),
            tuple(told for told in edge_meaning(graph) for _ in range(self.copies)),
            threshold=self.cost_of(()),
        )

    def solve_source(self) -> Parts | None:
        """Search all exact covers by r-cliques."""
        return first_cover(self.graph, self.graph.cliques(self.r))

    def source_to_solution(self, answer: Parts) -> Partition:
        """All copies of a clique's edges are a class."""
        copies = range(self.copies)
        return tuple(tuple(e * self.copies + i for e in part for i in copies) for part in answer)

    def solution_to_source(self, partition: Partition) -> Parts | None:
        """The classes, if each is all copies of an r-clique (any other class costs > r·t a row)."""
        k = self.copies * comb(self.r, 2)
        parts: list[tuple[int, ...]] = []
        for group in partition:
            edges = tuple(sorted({row // self.copies for row in group}))
            touched = {v for e in edges for v in self.graph.edges[e]}
            if len(group) != k or len(edges) * self.copies != k or len(touched) != self.r:
                return None
            parts.append(edges)
        return tuple(parts)

    def cost_of(self, answer: Parts) -> int:
        """α·|E|·r·t."""
        return self.copies * len(self.graph.edges) * self.r * self.blocks


@dataclass(frozen=True)
class DisjointDiversityTriangles(Triangles):
    """Edges into triangles → disjoint 2-diversity with one binary sensitive attribute.

    Every class needs an edge and a row of zeros; 3p edges and p such rows cost 12p iff every
    class is a triangle with one of them.
    """

    id: ClassVar[str] = "disjoint-diversity-triangles"
    source: ClassVar[str] = (
        "this project, Lemma 8 of the page on optimal 2-anonymity; the source problem is Holyer's"
    )
    problem: ClassVar[str] = "split the 3p edges of a graph into triangles"
    equation: ClassVar[str] = "optimum = 4·|E| iff the edges split into triangles, else higher"

    def __post_init__(self) -> None:
        if not self.graph.edges or len(self.graph.edges) % 3:
            count = len(self.graph.edges)
            raise InputError(f"the number of edges must be a multiple of 3, not {count}")

    def to_table(self) -> HardTable:
        """The incidence matrix with value A, then |E|/3 rows of zeros with value B."""
        graph, edges = self.graph, len(self.graph.edges)
        zeros = edges // 3
        return HardTable(
            edge_columns(graph),
            ("0", "1"),
            np.vstack([incidence(graph), np.zeros((zeros, graph.order), np.int32)]),
            ModelSpec("l-diversity", l=2, l_kind="disjoint"),
            edge_meaning(graph) + ("zero",) * zeros,
            threshold=4 * edges,
            sensitive_columns=("s",),
            sensitive_alphabet=("A", "B"),
            sensitive=np.repeat(np.array([0, 1], np.int32), [edges, zeros])[:, None],
        )

    def source_to_solution(self, answer: Parts) -> Partition:
        """Each triangle is a class with a row of zeros."""
        edges = len(self.graph.edges)
        return tuple((*part, edges + number) for number, part in enumerate(answer))

    def solution_to_source(self, partition: Partition) -> Parts | None:
        """The classes without their zeros, if each is a triangle and one row of zeros."""
        edges = len(self.graph.edges)
        old = tuple(tuple(row for row in group if row < edges) for group in partition)
        if any(len(group) != 4 for group in partition):
            return None
        return as_triangles(self.graph, old)

    def cost_of(self, answer: Parts) -> int:
        """4·|E|."""
        return 4 * len(self.graph.edges)
