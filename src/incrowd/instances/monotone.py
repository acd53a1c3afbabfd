"""Monotone satisfiability → k-anonymity of two columns, for any k ≥ 3."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.base import Option, Options, whole
from incrowd.instances.cnf import Assignment, Clause, Cnf, OfFormula
from incrowd.instances.table import HardTable, ModelSpec, Partition, encode

LEFT, RIGHT = 0, 1


@dataclass(frozen=True)
class TwoColumnSat(OfFormula):
    """Clauses all positive or all negative → k-anonymity of two columns: rows as edges.

    The first column's values and the second's are the two sides of a graph without repeated edges.
    A row keeps one cell iff it belongs to a class of k edges at one of its ends.
    """

    k: int = 3

    id: ClassVar[str] = "two-column-sat"
    source: ClassVar[str] = "this project; an open question of Bonizzoni et al. 2009, section 6"
    problem: ClassVar[str] = "satisfy clauses whose literals are all positive or all negative"
    equation: ClassVar[str] = "optimum = one star a row iff the formula can be satisfied"
    options: ClassVar[tuple[Option, ...]] = (
        Option("k", 3, "smallest class, at least 3", of_table=True),
        Option("variables", 4, "variables of the formula"),
        Option("clauses", 3, "clauses of the formula"),
    )

    def __post_init__(self) -> None:
        if self.k < 3:
            raise InputError(f"k must be at least 3, not {self.k}: 2-anonymity is polynomial")
        if any(len({literal > 0 for literal in clause}) > 1 for clause in self.formula.clauses):
            raise InputError("every clause must be all positive or all negative")

    @classmethod
    def make(
        cls, rng: np.random.Generator, planted: bool, options: Options
    ) -> "tuple[TwoColumnSat, Assignment | None]":
        """Draw clauses of three variables and one sign; if planted, a hidden assignment obeys."""
        variables, clauses = whole(options, "variables", 3), whole(options, "clauses", 1)
        hidden = tuple(bool(v) for v in rng.random(variables) < 0.5)
        chosen: list[Clause] = []
        for _ in range(1000 * clauses):
            if len(chosen) == clauses:
                break
            a, b, c = (int(v) + 1 for v in rng.choice(variables, 3, replace=False))
            clause = (a, b, c) if rng.random() < 0.5 else (-a, -b, -c)
            if not planted or obeys(hidden, clause):
                chosen.append(clause)
        if len(chosen) < clauses:
            raise InputError("found no such formula: take more variables or fewer clauses")
        family = cls.of(Cnf(variables, tuple(chosen)), options)
        return family, hidden if planted else None

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The rows: the names of each edge's ends on the left and on the right."""
        found: list[tuple[str, str]] = []
        uses: dict[str, list[str]] = {}  # the clause nodes that a literal's nodes must reach
        for number, clause in enumerate(self.formula.clauses, 1):
            side, node = (LEFT if clause[0] > 0 else RIGHT), f"c{number}"
            found += [turned(side, node, f"{node}.{leaf}") for leaf in range(1, self.k)]
            for literal in clause:
                # Positive clauses stand on the left and look at the right nodes: open iff false.
                uses.setdefault(f"{'r' if literal > 0 else 'l'}{abs(literal)}", []).append(node)
        for variable in range(1, self.formula.variables + 1):
            left, right = uses.get(f"l{variable}", []), uses.get(f"r{variable}", [])
            around = max(2, len(left), len(right))
            for i in range(around):
                here, ahead = f"r{variable}.{i}", f"r{variable}.{(i + 1) % around}"
                found += [(f"l{variable}.{i}", here), (f"l{variable}.{i}", ahead)]
                found += self.outgoing(LEFT, f"l{variable}.{i}", left[i : i + 1])
                found += self.outgoing(RIGHT, here, right[i : i + 1])
        for side in (LEFT, RIGHT):
            for sink in range(1, self.k - 1):
                leaves = range(1, self.k + 1)
                found += [turned(side, f"sink{sink}", f"sink{sink}.{leaf}") for leaf in leaves]
        return tuple(found)

    def outgoing(self, side: int, node: str, clause: list[str]) -> list[tuple[str, str]]:
        """The k − 2 edges of a literal's node besides its cycle's, to clause and sinks."""
        sinks = [f"sink{sink}" for sink in range(1, self.k - 1)]
        return [turned(side, node, other) for other in [*clause, *sinks][: self.k - 2]]

    def to_table(self) -> HardTable:
        """A row for each edge, its ends as the two cells."""
        alphabet, codes = encode([[f"a {a}", f"b {b}"] for a, b in self.edges])
        meaning = tuple(f"edge {a} {b}" for a, b in self.edges)
        model, rows = ModelSpec("k-anonymity", k=self.k), len(self.edges)
        return HardTable(("left", "right"), alphabet, codes, model, meaning, threshold=rows)

    def solve_source(self) -> Assignment | None:
        """Backtracking over the variables in order; a clause is looked at when all are set."""
        ready: list[list[Clause]] = [[] for _ in range(self.formula.variables + 1)]
        for clause in self.formula.clauses:
            ready[max(map(abs, clause))].append(clause)

        def search(value: Assignment) -> Assignment | None:
            if not all(obeys(value, clause) for clause in ready[len(value)]):
                return None
            if len(value) == self.formula.variables:
                return value
            return search((*value, True)) or search((*value, False))

        return search(())

    def source_to_solution(self, answer: Assignment) -> Partition:
        """Literals' nodes that are open own all their edges; clauses and sinks own the others."""
        groups: dict[tuple[int, str], list[int]] = {}
        for row, ends in enumerate(self.edges):
            kinds = [self.is_open(side, name, answer) for side, name in enumerate(ends)]
            # An edge of a literal's open node is that node's; one end of every edge is open.
            owner = LEFT if kinds[LEFT] == "literal" or not kinds[RIGHT] else RIGHT
            if kinds[RIGHT] == "literal":
                owner = RIGHT
            groups.setdefault((owner, ends[owner]), []).append(row)
        return tuple(tuple(group) for group in groups.values())

    @staticmethod
    def is_open(side: int, name: str, answer: Assignment) -> str:
        """What sort of open node a name is: "literal", "other", or none."""
        if name[0] in "lr":
            true = answer[int(name[1:].partition(".")[0]) - 1]
            return "literal" if true == (side == LEFT) else ""
        return "" if "." in name else "other"

    def solution_to_source(self, partition: Partition) -> Assignment | None:
        """A variable is true iff the edges of its first left node are a class, if all rows have
        one star."""
        if self.to_table().cost(partition) > len(self.edges):
            return None
        value = []
        for variable in range(1, self.formula.variables + 1):
            rows = {row for row, ends in enumerate(self.edges) if ends[LEFT] == f"l{variable}.0"}
            value.append(any(rows == set(group) for group in partition))
        return tuple(value)

    def cost_of(self, answer: Assignment) -> int:
        """One star a row."""
        return len(self.edges)


def turned(side: int, node: str, other: str) -> tuple[str, str]:
    """An edge from a node on a side to one on the other side, left end first."""
    return (node, other) if side == LEFT else (other, node)


def obeys(value: Assignment, clause: Clause) -> bool:
    """Whether a literal of the clause is true."""
    return any(value[abs(literal) - 1] == (literal > 0) for literal in clause)
