"""Formulas in conjunctive form with three literals a clause, read 1-in-3."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.base import FromFile

Clause = tuple[int, int, int]
Assignment = tuple[bool, ...]
"""An answer: the value of each variable."""


@dataclass(frozen=True)
class Cnf:
    """Clauses of three literals over three different variables.

    Attributes
    ----------
    variables: how many; they are numbered from 1.
    clauses: ``v`` is variable v, ``-v`` its negation.
    """

    variables: int
    clauses: tuple[Clause, ...]

    @classmethod
    def parse(cls, text: str) -> "Cnf":
        """Read DIMACS CNF.

        Raises InputError for malformed input and for clauses without three different variables.
        """
        variables = 0
        numbers: list[int] = []
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split()
            if not words or words[0] in ("c", "%"):
                continue
            if words[0] == "p":
                if len(words) != 4 or words[1] != "cnf" or not words[2].isdecimal():
                    raise InputError(f"DIMACS, line {number}: expected 'p cnf VARIABLES CLAUSES'")
                variables = int(words[2])
                continue
            try:
                numbers += [int(word) for word in words]
            except ValueError:
                raise InputError(f"DIMACS, line {number}: expected whole numbers") from None
        clauses: list[Clause] = []
        clause: list[int] = []
        for literal in numbers:
            if literal:
                clause.append(literal)
                continue
            if len(clause) != 3 or len({abs(v) for v in clause}) != 3:
                raise InputError(
                    f"clause {len(clauses) + 1} must have three literals of different variables"
                )
            clauses.append((clause[0], clause[1], clause[2]))
            clause = []
        if clause or not clauses:
            raise InputError("DIMACS: there is no clause, or the last one lacks its closing 0")
        highest = max(abs(v) for c in clauses for v in c)
        return cls(max(variables, highest), tuple(clauses))

    def text(self) -> str:
        """DIMACS CNF."""
        lines = [f"p cnf {self.variables} {len(self.clauses)}"]
        return "\n".join(lines + [f"{a} {b} {c} 0" for a, b, c in self.clauses]) + "\n"

    def obeys(self, assignment: Assignment) -> bool:
        """Whether every clause has exactly one true literal."""
        return all(
            sum(assignment[abs(v) - 1] == (v > 0) for v in clause) == 1 for clause in self.clauses
        )

    def assignments(self) -> Iterator[Assignment]:
        """Yield every assignment that makes exactly one literal of each clause true.

        Variables are set in order; a clause is checked as soon as it has two true literals, or
        none that can still be true.
        """
        touching: list[list[Clause]] = [[] for _ in range(self.variables)]
        for clause in self.clauses:
            for v in clause:
                touching[abs(v) - 1].append(clause)
        value: list[bool | None] = [None] * self.variables

        def possible(clause: Clause) -> bool:
            told = [value[abs(v) - 1] for v in clause]
            true = sum(x is not None and x == (v > 0) for x, v in zip(told, clause, strict=True))
            return true < 2 and (true == 1 or None in told)

        def search(v: int) -> Iterator[Assignment]:
            if v == self.variables:
                yield tuple(bool(x) for x in value)
                return
            for choice in (True, False):
                value[v] = choice
                if all(possible(clause) for clause in touching[v]):
                    yield from search(v + 1)
            value[v] = None

        return search(0)


@dataclass(frozen=True)
class OfFormula(FromFile):
    """What families of a formula share: their file is DIMACS CNF."""

    formula: Cnf

    form: ClassVar[type[Cnf]] = Cnf
    file_format: ClassVar[str] = "DIMACS CNF"
    decision: ClassVar[bool] = True


def random_cnf(
    rng: np.random.Generator, variables: int, clauses: int, monotone: bool, planted: bool
) -> tuple[Cnf, Assignment | None]:
    """Random clauses over three different variables; if planted, with a hidden assignment.

    ``monotone`` leaves out negations; the hidden assignment then has both values.
    """
    hidden = rng.random(variables) < 0.5
    if monotone:
        hidden[0], hidden[1:3] = True, False
    chosen: list[Clause] = []
    for _ in range(1000 * clauses):
        if len(chosen) == clauses:
            break
        at = rng.choice(variables, 3, replace=False)
        sign = np.ones(3, bool) if monotone else rng.random(3) < 0.5
        if not planted or (hidden[at] == sign).sum() == 1:
            a, b, c = (int(v) + 1 if s else -int(v) - 1 for v, s in zip(at, sign, strict=True))
            chosen.append((a, b, c))
    if len(chosen) < clauses:
        raise InputError("found no such formula: take more variables or fewer clauses")
    formula = Cnf(variables, tuple(chosen))
    return formula, tuple(bool(v) for v in hidden) if planted else None
