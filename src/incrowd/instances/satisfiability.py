"""1-in-3 satisfiability → edges into 4-stars → binary 3-anonymity."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.base import Option, Options, whole
from incrowd.instances.cnf import Assignment, OfFormula, random_cnf
from incrowd.instances.edge_partition import incidence_table
from incrowd.instances.gadgets import FormulaGraph, formula_graph
from incrowd.instances.table import HardTable, ModelSpec, Partition, from_labels


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
