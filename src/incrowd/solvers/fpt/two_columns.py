"""Exact k-anonymity of two columns, by dynamic programming over the values of the longer one."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.chain import presolve
from incrowd.solvers.base import Context, Outcome, Scope, refuse_other_models
from incrowd.solvers.baseline.first import first_release

MOST_HELD = 100_000_000  # numbers of all tables together, 4 bytes each; half as many of 8
MOST_STEPS = 4_000_000_000
NEVER, NEVER_IN_64 = 1 << 29, 1 << 60  # what no release costs, as int32 and as int64

Costs = NDArray[np.int32 | np.int64]
State = tuple[int, ...]
Shares = tuple[int, int, int]
"""Copies of a cell that show the first column alone, the second alone, and neither."""


@dataclass(frozen=True, kw_only=True)
class TwoColumns:
    """Rows are edges between two columns' values; a class is an edge, a star at a value, or all.

    The values of the second column come one by one.  A state holds, for each value of the first
    column in k rows or more, how many rows show it alone so far, and how many rows show nothing, up
    to k; at the end each is 0 or k.  So there are (k + 1)^(a + 2) states, a the fewer such values
    of the two columns, and a ≤ n/k.
    """

    id = "two-columns"
    guarantee = "exact"
    scope = Scope(
        models=("k-anonymity",),
        hierarchies=False,
        size="two columns; (k + 1)^(a + 2) × distinct rows ≤ 100 million, a values of one column "
        "in k rows or more",
    )
    source = "this project (explanation: few columns); open in Bonizzoni et al. 2009, §6"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse other models, hierarchies, a third column, and too many values."""
        if other := refuse_other_models(problem):
            return other
        if not problem.instance.plain:
            return "it serves suppression, no hierarchies and no ranges; use pattern-milp or engine"
        instance = presolve(problem, "all").problem.instance
        if instance.columns > 2:
            return (
                f"it serves two columns, one of which deletions take up, not {instance.columns}; "
                "use pattern-milp or engine"
            )
        plan = Plan.of(instance, problem.smallest_class)
        words = 1 if plan.never == NEVER else 2
        if words * plan.held > MOST_HELD or plan.steps > MOST_STEPS:
            return (
                f"{len(plan.open)} values of each column are in {problem.smallest_class} rows, "
                "too many for its states; use pattern-milp or engine"
            )
        return None

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Fill the tables and walk back; bound = cost when it finishes."""
        reduced = presolve(problem, "all")
        instance, k = reduced.problem.instance, problem.smallest_class
        if instance.rows < k:
            return Outcome(None)
        plan = Plan.of(instance, k)
        tables = plan.tables(context)
        if tables is None:
            return Outcome(first_release(problem), 0, context.stop.why())
        cost, shares = plan.walk_back(tables)
        classes = plan.classes(instance, shares)
        return Outcome(reduced.lift(Solution.of(instance, classes)), cost)


@dataclass(frozen=True, eq=False)
class Plan:
    """A table of two columns, in the order in which its cells are gone through.

    Attributes
    ----------
    k: the smallest class.
    first, second: int64, shape (cells,): the values of each distinct row; ``second`` ascends.
    row, count: int64, shape (cells,): its number in the instance, and its copies.
    star: what ``*`` costs in the first and in the second column.
    never: more than any release costs; small ones let the tables be int32.
    open: the values of the first column that k rows have, each with an axis of its own.
    wide: the values of the second column that k rows have.
    """

    k: int
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    row: NDArray[np.int64]
    count: NDArray[np.int64]
    star: tuple[int, int]
    never: int
    open: tuple[int, ...]
    wide: frozenset[int]

    @classmethod
    def of(cls, instance: Instance, k: int) -> "Plan":
        """Take the column with fewer values in k rows first; a missing column is constant."""
        columns = [instance.codes[:, j].astype(np.int64) for j in range(instance.columns)]
        stars = [int(tree.dearest) for tree in instance.trees]
        while len(columns) < 2:
            columns.append(np.zeros(instance.distinct, np.int64))
            stars.append(0)
        often = [
            np.flatnonzero(np.bincount(column, weights=instance.counts) >= k).tolist()
            for column in columns
        ]
        if len(often[1]) < len(often[0]):
            columns, stars, often = columns[::-1], stars[::-1], often[::-1]
        order = np.lexsort((columns[0], columns[1]))
        return cls(
            k,
            columns[0][order],
            columns[1][order],
            order,
            instance.counts[order],
            (stars[0], stars[1]),
            NEVER if instance.rows * sum(stars) < NEVER else NEVER_IN_64,
            tuple(often[0]),
            frozenset(often[1]),
        )

    @property
    def shape(self) -> State:
        """An axis for each open value, for the rows that show nothing, and for the second value."""
        return (self.k + 1,) * (len(self.open) + 2)

    @property
    def held(self) -> int:
        """Numbers in all tables together."""
        return (self.k + 1) ** (len(self.open) + 2) * (len(self.count) + 1)

    @property
    def steps(self) -> int:
        """Numbers gone through, at most."""
        many = self.count
        options = int(((many + 1) * (many + 2) * (many + 3) // 6).sum())  # shares in four parts
        return (self.k + 1) ** (len(self.open) + 2) * options

    def options(self, cell: int) -> list[Shares]:
        """Every way to share a cell's copies; those left show both values, none or at least k.

        With k copies left more than k in one other class are of no use.
        """
        copies, k = int(self.count[cell]), self.k
        alone = copies if int(self.first[cell]) in self.open else 0
        other = copies if int(self.second[cell]) in self.wide else 0
        found = []
        for x in range(alone + 1):
            for y in range(min(other, copies - x) + 1):
                for z in range(copies - x - y + 1):
                    left = copies - x - y - z
                    if left == 0 or (left >= k and max(x, y, z) <= k):
                        found.append((x, y, z))
        return found

    def price(self, shares: Shares) -> int:
        """Cost of a cell's copies."""
        x, y, z = shares
        return x * self.star[1] + y * self.star[0] + z * (self.star[0] + self.star[1])

    def axes(self, cell: int) -> State:
        """The axes that a cell's three shares count on (the first: of no matter if not open)."""
        value, n = int(self.first[cell]), len(self.open)
        return (self.open.index(value) if value in self.open else n, n + 1, n)

    def closes(self, cell: int) -> bool:
        """Whether the cell is the last with its second value."""
        return cell + 1 == len(self.second) or self.second[cell + 1] != self.second[cell]

    def impossible(self) -> Costs:
        """A table of states that cannot be reached."""
        kind = np.int32 if self.never == NEVER else np.int64
        return np.full(self.shape, self.never, kind)

    def tables(self, context: Context) -> list[Costs] | None:
        """Least costs by state before the first cell and after each; None when stopped."""
        start = self.impossible()
        start[(0,) * len(self.shape)] = 0
        tables = [start]
        for cell in range(len(self.count)):
            after = self.impossible()
            before = self.closed(cell - 1, tables[-1])
            for shares in self.options(cell):
                if context.stop.now():
                    return None
                moved = before
                for axis, more in zip(self.axes(cell), shares, strict=True):
                    moved = pushed(moved, axis, more, self)
                np.minimum(after, moved + after.dtype.type(self.price(shares)), out=after)
            np.minimum(after, self.never, out=after)
            tables.append(after)
            context.tell("values", share=(cell + 1) / len(self.count))
        return tables

    def closed(self, cell: int, table: Costs) -> Costs:
        """The table with the second value's class shut, where the cell is its last: 0 or k rows."""
        if cell < 0 or not self.closes(cell):
            return table
        shut = self.impossible()
        shut[..., 0] = np.minimum(table[..., 0], table[..., self.k])
        return shut

    def walk_back(self, tables: list[Costs]) -> tuple[int, list[Shares]]:
        """Return the optimum and each cell's shares."""
        k, last = self.k, self.closed(len(self.count) - 1, tables[-1])
        ends = [(*s, 0) for s in product((0, k), repeat=len(self.shape) - 1)]
        state = min(ends, key=lambda s: int(last[s]))
        optimum = cost = int(last[state])
        shares: list[Shares] = []
        for cell in reversed(range(len(self.count))):
            table, before = tables[cell + 1], self.closed(cell - 1, tables[cell])
            if self.closes(cell) and int(table[state]) != cost:
                state = (*state[:-1], k)
            state, cost, found = self.step_back(cell, state, cost, before)
            shares.append(found)
        return optimum, shares[::-1]

    def step_back(
        self, cell: int, state: State, cost: int, before: Costs
    ) -> tuple[State, int, Shares]:
        """Find the state, its cost and the shares from which a state was reached."""
        axes, k = self.axes(cell), self.k
        for shares in self.options(cell):
            came: list[list[int]] = [[at] for at in state]
            for axis, more in zip(axes, shares, strict=True):
                if more:
                    at = state[axis]
                    low = max(at - more, 0)
                    came[axis] = list(range(low, k + 1)) if at == k else [at - more]
            for origin in product(*came):
                left = cost - self.price(shares)
                if min(origin) >= 0 and int(before[origin]) == left < self.never:
                    return origin, left, shares
        raise AssertionError("a table's number that no step explains")

    def classes(self, instance: Instance, shares: list[Shares]) -> NDArray[np.int64]:
        """int64, shape (rows,): a class for each copy."""
        classes = np.empty(instance.rows, np.int64)
        name: dict[tuple[int, int], int] = {}
        for cell, (x, y, z) in enumerate(shares):
            ends = (int(self.first[cell]), -1), (-1, int(self.second[cell])), (-1, -1)
            own = ends[0][0], ends[1][1]
            left = int(self.count[cell]) - x - y - z
            labels = [
                name.setdefault(end, len(name))
                for end, many in zip((*ends, own), (x, y, z, left), strict=True)
                for _ in range(many)
            ]
            first = instance.first_copy[self.row[cell]]
            classes[first : first + len(labels)] = labels
        return classes


def pushed(table: Costs, axis: int, more: int, plan: Plan) -> Costs:
    """The table with ``more`` rows added on an axis, which ends at k."""
    k = plan.k
    more = min(more, k)
    if not more:
        return table
    moved = plan.impossible()
    view, old = np.moveaxis(moved, axis, 0), np.moveaxis(table, axis, 0)
    view[more:k] = old[: k - more]
    view[k] = old[k - more :].min(axis=0)
    return moved
