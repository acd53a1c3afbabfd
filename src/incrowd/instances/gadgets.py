"""The graph of a formula (Blocki and Williams 2010, Theorem 5).

Its edges split into 4-stars in exactly as many ways as the formula has 1-in-3 assignments.  Each
variable is two trees, top and bottom, joined at three places.  All their inner vertices have
degree three, so of two adjacent ones exactly one is the centre of a star: the centres are one of
the two colour classes.  Each clause is three vertices of degree four with a private edge; such a
vertex takes two of its three shared edges and leaves one to a tree.
"""

from collections import Counter
from dataclasses import dataclass, field

from incrowd.instances.cnf import Assignment, Cnf
from incrowd.instances.graph import Graph


@dataclass(frozen=True)
class FormulaGraph:
    """The graph, and what tells its vertices apart.

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
