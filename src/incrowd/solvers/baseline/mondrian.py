"""Mondrian: cut the table at a median, again and again (LeFevre, DeWitt, Ramakrishnan 2006)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.base import Group
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.base import Context, Outcome, Scope, refuse_open_models

Rows = NDArray[np.int64]
REPORTS = 50


@dataclass(frozen=True, kw_only=True)
class Mondrian:
    """Strict multidimensional partitioning.

    A part is cut at the median code of the column in which it is widest (distinct values over
    those of the table); if a half is unlawful the next widest column is tried.  Codes stand in
    hierarchy order.  Every part is lawful from the start, so a run may be stopped at any time.
    """

    id = "mondrian"
    guarantee = "none"
    scope = Scope(models=("any closed under union",))
    source = "LeFevre, DeWitt & Ramakrishnan 2006"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse models under which the whole table need not be a lawful class."""
        return refuse_open_models(problem)

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Cut until no part can be cut or time is up."""
        instance = problem.instance
        lawful = Lawful.of(problem)
        everything = np.arange(instance.distinct)
        if not lawful(everything):
            return Outcome(None)
        class_of = np.zeros(instance.distinct, np.int64)
        values = np.maximum([len(np.unique(column)) for column in instance.codes.T], 1)
        todo, done, rows, told = [everything], 0, 0, 0
        while todo:
            if rows >= told:
                context.tell("mondrian", share=rows / instance.distinct)
                told += 1 + instance.distinct // REPORTS
            part = todo.pop()
            halves = None
            if len(part) > 1 and not context.stop.now():
                halves = self.cut(instance.codes[part], instance.counts[part], part, values, lawful)
            if halves is None:
                class_of[part] = done
                done, rows = done + 1, rows + len(part)
            else:
                todo.extend(halves)
        ended = context.stop.why() if context.stop.now() else "finished"
        return Outcome(Solution.of(instance, class_of[instance.copies]), 0, ended)

    def cut(
        self,
        codes: NDArray[np.int32],
        counts: NDArray[np.int64],
        part: Rows,
        values: NDArray[np.int64],
        lawful: "Lawful",
    ) -> tuple[Rows, Rows] | None:
        """Return two lawful halves, or None."""
        if not lawful.may_split(int(counts.sum())):
            return None
        histograms = [np.bincount(column, weights=counts) for column in codes.T]
        width = np.array([np.count_nonzero(h) for h in histograms])
        for j in np.argsort(-(width / values), kind="stable"):
            if width[j] < 2:
                continue
            upto = np.cumsum(histograms[j])
            # The cut nearest to the middle that leaves something on both sides.
            present = np.flatnonzero(histograms[j])[:-1]
            at = present[np.argmin(np.abs(upto[present] - upto[-1] / 2))]
            low = codes[:, j] <= at
            if lawful(part[low]) and lawful(part[~low]):
                return part[low], part[~low]
        return None


@dataclass(frozen=True, eq=False)
class Lawful:
    """Asks the model about a set of distinct rows with all their copies."""

    problem: Problem
    table: Group
    smallest: int

    @classmethod
    def of(cls, problem: Problem) -> "Lawful":
        """Work out once what does not change."""
        table = problem.table
        return cls(problem, table, problem.model.smallest_class(table))

    def may_split(self, rows: int) -> bool:
        """Whether a class of so many rows may split into two lawful ones."""
        return rows >= 2 * self.smallest

    def __call__(self, part: Rows) -> bool:
        """Whether the rows are a lawful class."""
        instance, model = self.problem.instance, self.problem.model
        counts = instance.counts[part]
        if int(counts.sum()) < max(self.smallest, 1):
            return False
        if model.size_decides:
            return True
        values = np.repeat(instance.sensitive_codes[part], counts, axis=0)
        return model.lawful(Group(values, self.table.sizes), self.table)
