"""Splitting a graph's edges into triangles (and 4-stars): four tables with one row per edge."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.instances.base import Option, Options, whole
from incrowd.instances.exact_cover import exact_covers
from incrowd.instances.graph import Graph, OfGraph, random_graph
from incrowd.instances.planting import (
    plant_parts,
    plant_tripartite,
    random_tripartite,
    side_colours,
)
from incrowd.instances.table import HardTable, ModelSpec, Partition

Parts = tuple[tuple[int, ...], ...]
"""An answer: the edge numbers of each part."""

PARTS = Option("parts", 6, "triangles or stars planted; a random graph gets 3 edges for each")
VERTICES = Option("vertices", 9, "vertices of the graph")
SIDE = Option("side", 4, "vertices on each of the three sides")


def edge_columns(graph: Graph) -> tuple[str, ...]:
    """One column for each vertex."""
    return tuple(f"v{name}" for name in graph.vertices)


def edge_meaning(graph: Graph) -> tuple[str, ...]:
    """What each row stands for."""
    return tuple(f"edge {graph.vertices[a]} {graph.vertices[b]}" for a, b in graph.edges)


def incidence(graph: Graph) -> NDArray[np.int32]:
    """int32, shape (edges, vertices): 1 where the vertex is an end of the edge."""
    codes = np.zeros((len(graph.edges), graph.order), np.int32)
    for row, ends in enumerate(graph.edges):
        codes[row, list(ends)] = 1
    return codes


def incidence_table(graph: Graph, model: ModelSpec) -> HardTable:
    """The edge-vertex incidence matrix; 3 stars a row iff all classes touch three vertices."""
    return HardTable(
        edge_columns(graph),
        ("0", "1"),
        incidence(graph),
        model,
        edge_meaning(graph),
        threshold=3 * len(graph.edges),
    )


def first_cover(graph: Graph, parts: Sequence[tuple[int, ...]]) -> Parts | None:
    """The first exact cover of the edges by the parts, or None."""
    for chosen in exact_covers(len(graph.edges), parts):
        return tuple(parts[p] for p in chosen)
    return None


def as_triangles(graph: Graph, partition: Partition) -> Parts | None:
    """The release's classes if each is a triangle, else None."""
    if all(len(group) == 3 and graph.is_triangle(group) for group in partition):
        return tuple(tuple(sorted(group)) for group in partition)
    return None


def graph_from(text: str) -> Graph:
    """Read a graph with at least three edges."""
    graph = Graph.parse(text)
    if len(graph.edges) < 3:
        raise InputError(f"the graph has {len(graph.edges)} edges; a class needs at least 3 rows")
    return graph


@dataclass(frozen=True)
class Triangles(OfGraph):
    """What families share whose source is a graph's edges to be split into triangles."""

    stars: ClassVar[bool] = False  # whether 4-stars will do as well
    decision: ClassVar[bool] = True
    options: ClassVar[tuple[Option, ...]] = (VERTICES, PARTS)

    @classmethod
    def read(cls, text: str, options: Options) -> Self:
        """Read an edge list; edges are ranked in its order."""
        return cls(graph_from(text))

    @classmethod
    def make(
        cls, rng: np.random.Generator, planted: bool, options: Options
    ) -> tuple[Self, Parts | None]:
        """Draw a graph, made of such parts if planted."""
        vertices, parts = whole(options, "vertices", 3 + cls.stars), whole(options, "parts", 1)
        if not planted:
            return cls(random_graph(rng, vertices, 3 * parts)), None
        graph, answer = plant_parts(rng, vertices, parts, cls.stars)
        return cls(graph), answer

    def solve_source(self) -> Parts | None:
        """Search all exact covers."""
        graph = self.graph
        return first_cover(graph, graph.triangles() + (graph.stars() if self.stars else []))

    def source_to_solution(self, answer: Parts) -> Partition:
        """Each part is a class."""
        return answer

    def solution_to_source(self, partition: Partition) -> Parts | None:
        """The classes, if each is a triangle (any other lawful class is dearer)."""
        return as_triangles(self.graph, partition)

    def cost_of(self, answer: Parts) -> int:
        """3·|E|."""
        return 3 * len(self.graph.edges)


@dataclass(frozen=True)
class TrianglesOrStars(Triangles):
    """Edges into triangles and 4-stars → binary 3-anonymity: 3 stars a row iff it can be done."""

    id: ClassVar[str] = "triangles-or-stars"
    source: ClassVar[str] = (
        "Blocki and Williams 2010, Lemma 6; Aggarwal et al. 2005, first half of Theorem 1"
    )
    problem: ClassVar[str] = "split the edges of a graph into triangles and 4-stars"
    equation: ClassVar[str] = "optimum = 3·|E| iff the edges split into triangles and 4-stars"
    stars: ClassVar[bool] = True

    def to_table(self) -> HardTable:
        """The edge-vertex incidence matrix; k = 3."""
        return incidence_table(self.graph, ModelSpec("k-anonymity", k=3))

    def solution_to_source(self, partition: Partition) -> Parts | None:
        """The classes, if each is a triangle or a 4-star (any other class costs > 3 a row)."""
        graph = self.graph
        for group in partition:
            if len(group) != 3 or (graph.centre(group) is None and not graph.is_triangle(group)):
                return None
        return tuple(tuple(sorted(group)) for group in partition)


def block_columns(graph: Graph, blocks: int) -> tuple[str, ...]:
    """One column for each vertex in each block."""
    return tuple(f"b{i + 1}.{name}" for i in range(blocks) for name in edge_columns(graph))


def block_codes(graph: Graph, blocks: int) -> NDArray[np.int32]:
    """int32, shape (edges, blocks·vertices): one row for each edge.

    Block i of edge (a, b), a < b: digits 1 at a and 2 at b, swapped if bit i of its rank is 1.
    """
    codes = np.zeros((len(graph.edges), blocks, graph.order), np.int32)
    for row, (a, b) in enumerate(graph.edges):
        for block in range(blocks):
            swapped = (row + 1) >> (blocks - 1 - block) & 1
            codes[row, block, [a, b]] = (2, 1) if swapped else (1, 2)
    return codes.reshape(len(graph.edges), -1)


@dataclass(frozen=True)
class TernaryTriangles(Triangles):
    """Edges into triangles → ternary 3-anonymity: t blocks of columns make 4-stars dearer."""

    id: ClassVar[str] = "ternary-triangles"
    source: ClassVar[str] = "Aggarwal et al. 2005, Theorem 1 and Fig. 2"
    problem: ClassVar[str] = "split the edges of a graph into triangles"
    equation: ClassVar[str] = (
        "optimum = 3·|E|·t with t = ⌈log2(|E| + 1)⌉ iff the edges split into triangles"
    )

    @property
    def blocks(self) -> int:
        """t = ⌈log2(|E| + 1)⌉, the binary digits that ranks 1..|E| need."""
        return len(self.graph.edges).bit_length()

    def to_table(self) -> HardTable:
        """Blocks of digits by which the ends of an edge are told apart; k = 3."""
        graph, blocks = self.graph, self.blocks
        return HardTable(
            block_columns(graph, blocks),
            ("0", "1", "2"),
            block_codes(graph, blocks),
            ModelSpec("k-anonymity", k=3),
            edge_meaning(graph),
            threshold=3 * len(graph.edges) * blocks,
        )

    def cost_of(self, answer: Parts) -> int:
        """3·|E|·t."""
        return 3 * len(self.graph.edges) * self.blocks


@dataclass(frozen=True)
class TripartiteTriangles(Triangles):
    """What the two diversity families share: all but the sensitive values.

    Attributes
    ----------
    graph: every edge joins two sides.
    side: 0, 1 or 2 for each vertex.
    """

    side: tuple[int, ...]

    problem: ClassVar[str] = "split the edges of a tripartite graph into triangles"
    equation: ClassVar[str] = "optimum = 3·|E| iff the edges split into triangles"
    options: ClassVar[tuple[Option, ...]] = (SIDE, PARTS)

    @classmethod
    def read(cls, text: str, options: Options) -> Self:
        """Read an edge list; raises InputError unless the graph is tripartite."""
        graph = graph_from(text)
        side = graph.colouring(3)
        if side is None:
            raise InputError("the graph is not tripartite: its vertices need more than 3 colours")
        return cls(graph, side)

    @classmethod
    def make(
        cls, rng: np.random.Generator, planted: bool, options: Options
    ) -> tuple[Self, Parts | None]:
        """Draw a tripartite graph, made of triangles if planted."""
        side, parts = whole(options, "side", 1), whole(options, "parts", 1)
        if not planted:
            return cls(random_tripartite(rng, side, parts), side_colours(side)), None
        graph, answer, sides = plant_tripartite(rng, side, parts)
        return cls(graph, sides), answer

    @property
    def missed(self) -> NDArray[np.int32]:
        """int32, shape (edges,): the one side that each edge does not touch."""
        return np.array([3 - self.side[a] - self.side[b] for a, b in self.graph.edges], np.int32)

    def table(
        self,
        diversity: int,
        names: tuple[str, ...],
        alphabet: tuple[str, ...],
        values: NDArray[np.int32],
    ) -> HardTable:
        """The incidence matrix with the given sensitive values; distinct l-diversity."""
        model = ModelSpec("l-diversity", l=diversity, l_kind="distinct")
        return replace(
            incidence_table(self.graph, model),
            sensitive_columns=names,
            sensitive_alphabet=alphabet,
            sensitive=values,
        )


@dataclass(frozen=True)
class TwoDiversityTriangles(TripartiteTriangles):
    """Edges of a tripartite graph into triangles → 2-diversity with three binary SAs.

    Each sensitive attribute must have two values in every class.  Under the paper's own
    Definition 1 (``disjoint``) no class is lawful: see the reference page.
    """

    id: ClassVar[str] = "two-diversity-triangles"
    source: ClassVar[str] = "Blocki and Williams 2010, Theorem 6"

    def to_table(self) -> HardTable:
        """Sensitive attribute j is 1 iff the edge touches side j; distinct 2-diversity."""
        touched = self.missed[:, None] != np.arange(3)
        return self.table(2, ("s1", "s2", "s3"), ("0", "1"), touched.astype(np.int32))


@dataclass(frozen=True)
class ThreeDiversityTriangles(TripartiteTriangles):
    """Edges of a tripartite graph into triangles → 3-diversity with one ternary SA."""

    id: ClassVar[str] = "three-diversity-triangles"
    source: ClassVar[str] = "Blocki and Williams 2010, Theorem 7"

    def to_table(self) -> HardTable:
        """The sensitive value tells which two sides the edge joins; 3-diversity."""
        # Edges between sides 1 and 2 miss the third, so the paper's values 1, 2, 3 run backwards.
        return self.table(3, ("s",), ("1", "2", "3"), (2 - self.missed)[:, None])
