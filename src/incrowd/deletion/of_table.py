"""From a table and a policy to a release of some of its rows."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.prices import Prices
from incrowd.deletion.found import Found, kept_solution
from incrowd.deletion.solving import solve_deleting
from incrowd.driver.solve import Solved
from incrowd.encoding.encoded import Coded
from incrowd.errors import InputError
from incrowd.hierarchy.build import DEAREST_ROW
from incrowd.policy.deletion import read
from incrowd.problem.deletion import Deletion
from incrowd.problem.solution import Solution
from incrowd.solvers.base import Context, Solver
from incrowd.text.units import Number, in_units


@dataclass(frozen=True, eq=False)
class Deleted:
    """Rows that a release lacks because they were cheaper to delete.

    Attributes
    ----------
    table: the whole table, encoded; its costs are in the units of the release's.
    rows: int64, rising: numbers of the deleted rows, from 0.
    deletion: price and limit.
    prices: the certificate behind the bound, per distinct row of the whole table, or None.
    bound: in units of 1/scale: of all releases that may lack rows as asked.
    """

    table: Coded
    rows: NDArray[np.int64]
    deletion: Deletion
    prices: Prices | None
    bound: int

    @property
    def units(self) -> int:
        """What they cost, in units of 1/scale."""
        return self.deletion.price * len(self.rows)

    @property
    def price(self) -> Number:
        """What each of them costs."""
        return in_units(self.deletion.price, self.table.instance.scale)


def deletion_of(table: Coded, text: str) -> tuple[Coded, Deletion]:
    """Return what is asked in units of 1/scale, and the table in a scale that has such units.

    Raises
    ------
    InputError: the price has too many digits.
    """
    asked, instance = read(text), table.instance
    if asked.price is None:
        whole = sum(tree.dearest for tree in instance.trees)
        return table, Deletion(whole, asked.limit(instance.rows))
    factor = (asked.price * instance.scale).denominator
    scale = instance.scale * factor
    price = int(asked.price * scale)
    dearest = max(price, factor * sum(tree.dearest for tree in instance.trees))
    if max(dearest, scale) >= DEAREST_ROW:
        raise InputError("delete_rows: the price needs more digits than fit; use a rounder one")
    table = replace(table, instance=instance.times(factor))
    return table, Deletion(price, asked.limit(instance.rows))


def released(
    table: Coded, text: str, method: str | Solver, context: Context
) -> tuple[Coded, Solved, Deleted]:
    """Return the table without the deleted rows, its solution, and what was deleted."""
    table, deletion = deletion_of(table, text)
    found, _ = solve_deleting(table.problem, deletion, method, context)
    kept = found.kept[table.copy_of_row]
    gone = np.flatnonzero(~kept)
    deleted = Deleted(table, gone, deletion, found.prices, found.bound)
    rest, solution = _rest(table, found, kept)
    bound = found.bound - deleted.units
    solved = Solved(solution, solution.cost, bound, found.method, found.ended)
    return rest, solved, deleted


def _rest(table: Coded, found: Found, kept: NDArray[np.bool_]) -> tuple[Coded, Solution]:
    """Return the rows that are kept, and their classes; hierarchies stay those of the table."""
    solution, place = kept_solution(table.problem, found.classes)
    of_copy = np.full(table.instance.rows, -1)
    of_copy[found.kept] = place
    copy_of_row = of_copy[table.copy_of_row[kept]]
    return table.rest(np.flatnonzero(kept), solution.instance, copy_of_row), solution
