"""1-in-3 satisfiability → edges into 4-stars → binary 3-anonymity.

The edges of the graph of a formula (Blocki and Williams 2010, Theorem 5) split into 4-stars in
exactly as many ways as the formula has 1-in-3 assignments.  Each variable is two trees, top and
bottom, joined at three places.  All their inner vertices have degree three, so of two adjacent ones
exactly one is the centre of a star: the centres are one of the two colour classes.  Each clause is
three vertices of degree four with a private edge; such a vertex takes two of its three shared edges
and leaves one to a tree.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.base import Option, Options, whole
from incrowd.instances.cnf import Assignment, Cnf, OfFormula, random_cnf
from incrowd.instances.edge_partition import incidence_table
from incrowd.instances.graph import Graph
from incrowd.instances.table import HardTable, ModelSpec, Partition, from_labels


@dataclass(frozen=True)
class FormulaGraph:
    """The graph of a formula, and what tells its vertices apart.

    Attributes
    ----------
    graph: all vertices and edges.
    rule: for each vertex that can be a centre or not, a variable (from 0) and the value at which
        it is one.
    middles: the vertices of degree four, always centres.
    """

    graph: Graph
    rule: dict[int, tuple[int, bool]]
    middles: frozenset[int]

    def centre(self, edge: int, assignment: Assignment) -> int:
        """The centre of the star that an edge belongs to under an assignment."""
        ends = self.graph.edges[edge]
        for v in ends:
            if v in self.rule and assignment[self.rule[v][0]] == self.rule[v][1]:
                return v
        return ends[0] if ends[0] in self.middles else ends[1]


def formula_graph(formula: Cnf) -> FormulaGraph:
    """Build the graph of a formula.  A variable that occurs nowhere gets no gadget."""
    uses = Counter(literal for clause in formula.clauses for literal in clause)
    builder = _Builder()
    for v in range(1, formula.variables + 1):
        most = max(uses[v], uses[-v])
        if most:
            # d with 3·2^(d−2) < 3(most + 1) ≤ 3·2^(d−1)
            builder.add_variable(v, 1 + most.bit_length())
    for number, clause in enumerate(formula.clauses, 1):
        builder.add_clause(number, clause)
    for literal in builder.free:
        builder.gather(literal)
    graph = Graph.of(builder.vertices, builder.edges)
    return FormulaGraph(graph, builder.rule, frozenset(builder.middles))


@dataclass
class _Builder:
    """Collects the graph; ``free[literal]`` counts unused shared edges by the inner end."""

    vertices: list[str] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    rule: dict[int, tuple[int, bool]] = field(default_factory=dict)
    middles: list[int] = field(default_factory=list)
    free: dict[int, Counter[int]] = field(default_factory=dict)

    def vertex(self, name: str) -> int:
        self.vertices.append(name)
        return len(self.vertices) - 1

    def add_tree(self, literal: int, depth: int) -> list[int]:
        """Add the inner vertices of a 3-binary tree; return those of its last inner level."""
        name = f"x{abs(literal)}{'t' if literal > 0 else 'b'}"
        level = [self.vertex(name)]
        levels = [level]
        for step in range(1, depth):
            grown: list[int] = []
            for parent in level:
                for child in range(3 if step == 1 else 2):
                    new = self.vertex(f"{self.vertices[parent]}{child + 1}")
                    self.edges.append((parent, new))
                    grown.append(new)
            level = grown
            levels.append(level)
        for height, members in enumerate(reversed(levels)):
            # The last level holds centres when the tree's literal is true; so every second one.
            for v in members:
                self.rule[v] = (abs(literal) - 1, (literal > 0) == (height % 2 == 0))
        return level

    def add_variable(self, variable: int, depth: int) -> None:
        """Add the gadget G_depth of Definition 11."""
        tops, bottoms = self.add_tree(variable, depth), self.add_tree(-variable, depth)
        self.edges += list(zip(tops[:3], bottoms[:3], strict=True))
        for literal, parents in ((variable, tops), (-variable, bottoms)):
            # The first three parents lost a leaf to the joining edges; the others have two.
            self.free[literal] = Counter({p: 1 if i < 3 else 2 for i, p in enumerate(parents)})

    def take(self, literal: int) -> int:
        """Use up a shared edge whose parent still has another one, if there is such a parent."""
        parent = self.free[literal].most_common(1)[0][0]
        self.free[literal][parent] -= 1
        self.free[literal] += Counter()  # drops the parents with none left
        return parent

    def add_clause(self, number: int, clause: tuple[int, int, int]) -> None:
        """Add three copies of S5 and merge their shared edges with those of the literals' trees."""
        for copy in range(1, 4):
            middle = self.vertex(f"c{number}.{copy}")
            self.middles.append(middle)
            self.edges.append((middle, self.vertex(f"c{number}.{copy}p")))
            self.edges += [(self.take(literal), middle) for literal in clause]

    def gather(self, literal: int) -> None:
        """Tie the unused shared edges of a tree together, three by three, from three parents."""
        while self.free[literal]:
            new = self.vertex(f"x{abs(literal)}{'t' if literal > 0 else 'b'}+{len(self.vertices)}")
            self.rule[new] = (abs(literal) - 1, literal < 0)
            for parent, _ in self.free[literal].most_common(3):
                self.free[literal][parent] -= 1
                self.edges.append((parent, new))
            self.free[literal] += Counter()


@dataclass(frozen=True)
class OneInThreeSat(OfFormula):
    """A formula → binary 3-anonymity: 3 stars a row iff exactly one literal a clause can hold."""

    id: ClassVar[str] = "one-in-three-sat"
    source: ClassVar[str] = "Blocki and Williams 2010, Theorem 5 and Appendices B to D"
    problem: ClassVar[str] = "make exactly one literal of each clause true"
    equation: ClassVar[str] = "optimum = 3·rows iff the formula is 1-in-3 satisfiable"
    options: ClassVar[tuple[Option, ...]] = (
        Option("variables", 6, "variables of the formula"),
        Option("clauses", 4, "clauses of the formula"),
        Option(
            "literals",
            "any",
            "positive: no negations, and the graph is bipartite",
            choices=("any", "positive"),
        ),
    )

    @classmethod
    def make(
        cls, rng: np.random.Generator, planted: bool, options: Options
    ) -> "tuple[OneInThreeSat, Assignment | None]":
        """Draw a formula, with a hidden assignment if planted."""
        variables, clauses = whole(options, "variables", 3), whole(options, "clauses", 1)
        if options["literals"] not in ("any", "positive"):
            raise InputError(f"literals must be 'any' or 'positive', not {options['literals']!r}")
        positive = options["literals"] == "positive"
        formula, answer = random_cnf(rng, variables, clauses, positive, planted)
        return cls(formula), answer

    @cached_property
    def gadgets(self) -> FormulaGraph:
        """The graph whose edges are the rows."""
        return formula_graph(self.formula)

    def to_table(self) -> HardTable:
        """The edge-vertex incidence matrix of the formula's graph; k = 3."""
        return incidence_table(self.gadgets.graph, ModelSpec("k-anonymity", k=3))

    def solve_source(self) -> Assignment | None:
        """The first 1-in-3 assignment by backtracking, or None."""
        return next(self.formula.assignments(), None)

    def source_to_solution(self, answer: Assignment) -> Partition:
        """The 4-stars around the centres that the assignment fixes."""
        graph = self.gadgets.graph
        return from_labels([self.gadgets.centre(e, answer) for e in range(len(graph.edges))])

    def solution_to_source(self, partition: Partition) -> Assignment | None:
        """Read the assignment off the centres, if every class is a 4-star.

        Variables without a gadget are false.
        """
        if any(len(group) != 3 for group in partition):
            return None
        centres = {self.gadgets.graph.centre(group) for group in partition}
        if None in centres:
            return None
        value = [False] * self.formula.variables
        for v, (variable, wanted) in self.gadgets.rule.items():
            # Adjacent inner vertices are never both centres, so any one of them tells.
            value[variable] = wanted == (v in centres)
        answer = tuple(value)
        return answer if self.formula.obeys(answer) else None

    def cost_of(self, answer: Assignment) -> int:
        """3 stars a row."""
        return 3 * len(self.gadgets.graph.edges)
