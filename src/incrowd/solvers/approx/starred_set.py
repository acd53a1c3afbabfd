"""The m-approximation for every model closed under union, t-closeness among them."""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.family import no_ranges
from incrowd.kernels.types import Ints
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.approx.m_approximation import cheapest_change
from incrowd.solvers.base import Context, Outcome, Scope, refuse_open_models
from incrowd.solvers.baseline.first import first_release
from incrowd.solvers.exact.submultisets import histogram_keys, lawful_keys

MOST_HELD = 200_000_000  # choices, of histograms and groups: one or two bytes each
MOST_STATES = 15_000_000  # histograms, some of 8 bytes each besides
MOST_STEPS = 5_000_000_000
NEVER = 1 << 60


@dataclass(frozen=True, kw_only=True)
class StarredSet:
    """The least lawful class T such that what it leaves of equal rows is lawful, group by group.

    In any release the rows that change form a lawful set, as the model is closed under union, and
    the rows that stay form, for each group of equal rows, a lawful set or none.  So a release pays
    for such a T, with its rows' cheapest changes at least; T as one class and the rest as it is
    cost at most a whole row for each.  The least T is found by its histograms of sensitive values:
    polynomial for a fixed number of these.
    """

    id = "starred-set"
    guarantee = "m = number of columns (with equal weights), under any model closed under union"
    scope = Scope(
        models=("any closed under union",),
        size=f"histograms of sensitive values ≤ {MOST_STATES:,}, × groups of equal rows ≤ "
        f"{MOST_HELD:,}",
    )
    source = "this project (explanation: a ratio for t-closeness); Liang & Yuan 2012, §5 and §7"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse models not closed under union, ranges, and too many histograms."""
        if reason := refuse_open_models(problem) or no_ranges(problem.instance.trees, "its ratio"):
            return reason
        groups = Groups.of(problem)
        held = groups.states * (len(groups.rows) + 1)
        if groups.states > MOST_STATES or held > MOST_HELD or groups.steps > MOST_STEPS:
            return "its tables over histograms of sensitive values are too large; use engine"
        return None

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Return the release, and the cheapest changes of T's rows as the bound."""
        if not problem.lawful_together:
            return Outcome(None)
        groups = Groups.of(problem)
        kept = groups.kept(problem, context)
        if kept is None:
            return Outcome(first_release(problem), 0, context.stop.why())
        instance = problem.instance
        classes = np.zeros(instance.rows, np.int64)
        for number, (rows, taken) in enumerate(zip(groups.rows, kept[0], strict=True), 1):
            for row in rows.tolist():
                key = int(groups.key[row])
                many = taken // groups.place[key] % groups.radix[key]
                first = instance.first_copy[row]
                classes[first : first + many] = number
        solution = Solution.of(instance, classes)
        return Outcome(solution, min(kept[1], solution.cost))


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of rows with equal quasi-identifiers, and histograms as numbers in mixed radix.

    Attributes
    ----------
    rows: the distinct rows of each group, no two with equal sensitive values.
    key: int64, shape (distinct,): the combination of sensitive values of each row.
    place, radix: int64, shape (combinations,): of a copy of one in a histogram's number.
    states: number of histograms of the table's parts; steps: of the dynamic program, at most.
    pays: int64, shape (groups,): the least that a row of the group pays if it changes.
    """

    rows: list[Ints]
    key: Ints
    place: Ints
    radix: Ints
    states: int
    steps: int
    pays: Ints

    @classmethod
    def of(cls, problem: Problem) -> "Groups":
        """Group the rows; a model that looks at sizes alone sees one sensitive value."""
        instance = problem.instance
        secret = instance.sensitive_codes
        values, key = np.unique(secret, axis=0, return_inverse=True)
        totals = np.bincount(key.ravel(), weights=instance.counts, minlength=len(values))
        radix = [int(total) + 1 for total in totals]
        place = [prod(radix[:v]) for v in range(len(radix))]
        order = np.lexsort(instance.codes.T[::-1]) if instance.columns else np.arange(len(key))
        change = (np.diff(instance.codes[order], axis=0) != 0).any(axis=1)
        rows = np.split(order, np.flatnonzero(change) + 1)
        parts = sum(prod(int(c) + 1 for c in instance.counts[group]) for group in rows)
        states = prod(radix)
        least = cheapest_change(instance)
        held = states if states < NEVER else 0  # places beyond would not fit, and are not used
        at = np.array(place if held else [0] * len(place), np.int64)
        pays = np.array([int(least[group[0]]) for group in rows], np.int64)
        return cls(rows, key.ravel(), at, np.array(radix, np.int64), states, states * parts, pays)

    def parts(self, instance: Instance, group: int) -> Ints:
        """The numbers of all histograms of a group's parts."""
        numbers = np.zeros(1, np.int64)
        for row in self.rows[group].tolist():
            more = np.arange(int(instance.counts[row]) + 1) * self.place[self.key[row]]
            numbers = (numbers[:, None] + more).ravel()
        return numbers

    def size(self, numbers: Ints) -> Ints:
        """Rows of histograms."""
        return (numbers[:, None] // self.place % self.radix).sum(axis=1)

    def kept(self, problem: Problem, context: Context) -> tuple[list[int], int] | None:
        """Return what each group keeps, as a histogram's number, and the bound; None when stopped.

        Of all choices whose rest is lawful, or empty, one of the cheapest, each row that does not
        stay at its cheapest change.
        """
        instance, stop = problem.instance, context.stop
        _, keyed = histogram_keys(instance)
        spent = np.full(self.states, NEVER, np.int64)
        spent[0] = 0
        choice: list[tuple[Ints, NDArray[np.unsignedinteger]]] = []
        for group in range(len(self.rows)):
            numbers = self.parts(instance, group)
            lawful = lawful_keys(problem.model, problem.table, keyed, numbers, stop)
            if lawful is None:
                return None
            numbers = np.concatenate([[0], numbers[lawful & (numbers > 0)]])
            left = int(instance.counts[self.rows[group]].sum()) - self.size(numbers)
            after = np.full(self.states, NEVER, np.int64)
            chosen = np.zeros(self.states, np.min_scalar_type(len(numbers)))
            for i, (number, rest) in enumerate(zip(numbers.tolist(), left.tolist(), strict=True)):
                if stop.now():
                    return None
                new = spent[: self.states - number] + rest * self.pays[group]
                better = new < after[number:]
                after[number:][better] = new[better]
                chosen[number:][better] = i
            choice.append((numbers, chosen))
            spent = after
            context.tell("groups", share=(group + 1) / len(self.rows))
        return self.best(problem, spent, choice, keyed, context)

    def best(
        self, problem: Problem, spent: Ints, choice: list, keyed: list, context: Context
    ) -> tuple[list[int], int] | None:
        """Take the cheapest kept histogram whose rest is lawful, and walk back."""
        total = self.states - 1
        reached = np.flatnonzero(spent < NEVER)
        reached = reached[np.argsort(spent[reached], kind="stable")]
        for first in range(0, len(reached), 256):
            some = reached[first : first + 256]
            law = lawful_keys(problem.model, problem.table, keyed, total - some, context.stop)
            if law is None:
                return None
            fits = np.flatnonzero(law | (some == total))
            if len(fits):
                at, taken = int(some[fits[0]]), []
                bound = int(spent[at])
                for numbers, chosen in reversed(choice):
                    taken.append(int(numbers[chosen[at]]))
                    at -= taken[-1]
                return taken[::-1], bound
        raise AssertionError("the whole table is lawful")
