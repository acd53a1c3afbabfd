"""The search for a release within its caps, from one that is near them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.constraints.crowd import Costs, new_crowd, revalue
from incrowd.constraints.plan import Plan
from incrowd.constraints.repair import sweep
from incrowd.encoding.encoded import Coded
from incrowd.hierarchy.labels import labels_of_spans, moved
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.problem.solution import Solution
from incrowd.reduce.fixed import groups_of
from incrowd.reduce.linked import LinkedSolution
from incrowd.solvers.base import Context

FINE = 64
ROUNDS = 80
ORDERS = 12  # orders of the rows in which neighbours are met
FRESH = 4  # rounds after which there are new ones
TRIES = (1_000, 6)  # moves tried in a round: at least, and per row
RISE, FALL = 1.2, 0.92  # of a price while its cap is broken, and while it is met
HEAT = (0.3, 0.02)  # in mean costs of a changed cell, from the first round to the last


@dataclass(frozen=True, eq=False)
class Repair:
    """A table, its constraints, and the prices of changed cells."""

    table: Coded
    plan: Plan
    context: Context

    def run(self, start: Solution, first: Sequence[float]) -> Iterator[Solution]:
        """Yield the release after each round; prices follow the caps.

        Parameters
        ----------
        first: price of a changed cell for each cap to begin with, in units of 1/scale.
        """
        table, plan = self.table, self.plan
        rng = np.random.default_rng([self.context.seed, 0x0CA9])
        member = start.classes[table.copy_of_row]
        k = table.problem.smallest_class
        groups = groups_of(table.leaves, plan.fixed)
        crowd = new_crowd(table.leaves, groups, member, k)
        unit = self.unit()
        price = np.array(first) * FINE
        tries = most = max(TRIES[0], TRIES[1] * len(member))
        focus = self.focus()
        solution, near = start, self.orders(rng)
        for i in range(ROUNDS):
            if i and i % FRESH == 0:
                near = self.orders(rng)
            counts = self.counts(solution)
            for c, limit in enumerate(plan.limits):
                if counts[c] > limit.most:
                    price[c] = max(price[c] * (RISE if i else 1), unit / 4)
                else:
                    price[c] *= FALL
            costs = self.costs(price)
            revalue(crowd, costs)
            heat = unit * HEAT[0] * (HEAT[1] / HEAT[0]) ** (i / (ROUNDS - 1))
            began = self.context.stop.elapsed()
            sweep(crowd, costs, k, near, focus, rng.random((tries, 5)), heat)
            solution = self.solution(crowd.member)
            yield solution
            if self.context.stop.now():
                return
            if self.context.stop.time_limit is not None and i:  # the first one may compile
                due = self.context.stop.left() / (ROUNDS - i)
                pace = due / max(1e-6, self.context.stop.elapsed() - began)
                tries = min(most, max(500, int(tries * pace)))

    def unit(self) -> float:
        """Return the mean cost of a star, in the prices' unit."""
        trees = self.table.instance.trees
        return FINE * sum(tree.dearest for tree in trees) / len(trees)

    def focus(self) -> NDArray[np.int64]:
        """Return the rows of capped subgroups."""
        inside = [limit.inside for limit in self.plan.limits if limit.inside is not None]
        return np.flatnonzero(np.any(inside, axis=0)) if inside else np.zeros(0, np.int64)

    def counts(self, solution: Solution) -> list[int]:
        """Return the changed cells under each cap."""
        changed = changed_cells(self.table, solution)
        return [limit.count(changed) for limit in self.plan.limits]

    def costs(self, price: NDArray[np.float64]) -> Costs:
        """Return what classes cost at these prices, one per cap."""
        rows, columns = self.table.leaves.shape
        link = np.full(columns, -1, np.int64)
        for i, columns_linked in enumerate(self.plan.links):
            link[list(columns_linked)] = i
        by_column, by_row = np.zeros(columns, np.int64), np.zeros(rows, np.int64)
        for now, limit in zip(np.ceil(price).astype(np.int64), self.plan.limits, strict=True):
            if limit.column is not None:
                by_column[limit.column] += now
            else:
                by_row[limit.inside] += now
        return Costs(self.table.instance.tables, FINE, link, by_column, by_row)

    def orders(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """int64, shape (orders, 2, rows): rows sorted by columns in random order, and places.

        Fixed columns come first, then in turn a capped one: rows that differ in it can often not
        share a class.
        """
        leaves, plan = self.table.leaves, self.plan
        capped = [limit.column for limit in plan.limits if limit.column is not None]
        found = np.empty((ORDERS, 2, len(leaves)), np.int64)
        for i in range(ORDERS):
            first = (
                [*plan.fixed, *capped[i % len(capped) : i % len(capped) + 1]]
                if (capped and i % 2)
                else list(plan.fixed)
            )
            others = [j for j in rng.permutation(leaves.shape[1]) if j not in first]
            mixed = rng.permutation(len(leaves))
            keys = leaves[mixed][:, [*first, *others]]
            order = mixed[np.lexsort(keys.T[::-1])]
            found[i, 0] = order
            found[i, 1, order] = np.arange(len(leaves))
        return found

    def solution(self, member: NDArray[np.int64]) -> LinkedSolution:
        """Return the release with these classes."""
        classes = self.table.by_copy(member)
        return LinkedSolution.of_links(self.table.instance, classes, self.plan.links)


def changed_cells(table: Coded, solution: Solution) -> NDArray[np.bool_]:
    """bool, shape (rows, quasi-identifiers): which cells a solution changes."""
    class_of_row = solution.classes[table.copy_of_row]
    columns = []
    for j, tree in enumerate(table.instance.trees):
        leaf = table.leaves[:, j]
        if isinstance(tree, RangeFamily):
            _, ids, own = labels_of_spans(tree, *(ends[:, j] for ends in solution.spans))
            columns.append((ids[class_of_row] >= 0) & (own[class_of_row] != leaf))
        else:
            columns.append(moved(tree)[solution.levels[class_of_row, j], leaf])
    return np.column_stack(columns)
