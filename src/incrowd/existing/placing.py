"""Where each new row goes, and which are held back for now."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.encoding.encoded import Coded
from incrowd.encoding.lots import first_of_equals
from incrowd.errors import NoLawfulReleaseError
from incrowd.existing.apart import JoiningApart
from incrowd.existing.capping import JoiningCapped
from incrowd.existing.join import Ints, Joining, LostRowsError
from incrowd.existing.linking import Searched
from incrowd.existing.told import require_left
from incrowd.policy import Policy
from incrowd.problem.instance import Instance, from_codes
from incrowd.run.stop import Stop, interruptible

SHOWN = 12  # numbers of rows in a message
Secret = NDArray[np.int32] | None


@dataclass(eq=False)
class Placing:
    """New rows, and where they go.

    Attributes
    ----------
    table: those that are not held back; secret: what the models look at in them.
    seen: all new rows as they are searched.
    policy: what is asked.
    begin: returns how the rows of an instance join.
    held: bool, shape (all new rows,): those that are held back.
    lost: how many of these fit nowhere; untold: by sensitive column, of how many others the
        difference would tell it.
    place: int64, shape (rows of ``table``,): published class, or classes + number of a new class.
    """

    table: Coded
    secret: Secret
    seen: Searched
    policy: Policy
    begin: Callable[[Instance], Joining | JoiningApart | JoiningCapped]

    def __post_init__(self) -> None:
        self.held = np.zeros(self.table.source.rows, bool)
        self.lost, self.untold = 0, Counter[str]()
        self.place = np.zeros(self.table.source.rows, np.int64)
        self.joins()

    def joins(self) -> None:
        """Begin with the rows of ``table``."""
        leaves, trees = self.seen.leaves[~self.held], self.seen.trees
        equals = equal_rows(self.table, self.secret, self.policy)
        scale = self.table.instance.scale
        self.instance, self.copy_of_row = from_codes(leaves, trees, self.secret, scale, equals)
        self.joining = self.begin(self.instance)

    def search(self, stop: Stop) -> None:
        """Find a place for every row; those that fit nowhere are held back where that is asked.

        Raises
        ------
        NoLawfulReleaseError: rows fit nowhere; names them by their numbers.
        """
        while True:
            try:
                with interruptible(stop):
                    self.place = self.joining.best()[self.copy_of_row]
                return
            except LostRowsError as error:
                lost = np.isin(self.copy_of_row, error.copies)
                if not self.policy.hold_back:
                    which = numbered(np.flatnonzero(~self.held)[lost] + 1)
                    raise NoLawfulReleaseError(f"{error} ({which} of the new ones)") from None
            self.lost += int(lost.sum())
            self.hold(lost)

    def hold(self, which: NDArray[np.bool_]) -> None:
        """Hold some rows of ``table`` back; others keep their place and price."""
        price = self.joining.price[self.instance.copies[self.copy_of_row]][~which]
        self.held[np.flatnonzero(~self.held)[which]] = True
        require_left(self.held)
        self.table, self.place = without(self.table, which), self.place[~which]
        self.secret = None if self.secret is None else self.secret[~which]
        self.joins()
        self.joining.price[self.instance.copies[self.copy_of_row]] = price

    @property
    def broken(self) -> bool:
        """Whether rows that were held back leave others beyond a cap."""
        capped = self.joining
        return isinstance(capped, JoiningCapped) and capped.broken(self.of_copy)

    @property
    def of_copy(self) -> Ints:
        """int64, shape (copies,): where each copy goes."""
        found = np.empty_like(self.place)
        found[self.copy_of_row] = self.place
        return found

    @property
    def units(self) -> tuple[int, int]:
        """What the places cost, and what none cost less than."""
        cost = self.joining.cost(self.of_copy)
        return cost, min(self.joining.bound(), cost)


def numbered(rows: Ints) -> str:
    """Name rows by their numbers, which count from 1 below the header."""
    first = ", ".join(f"{row:,}" for row in rows[:SHOWN].tolist())
    more = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
    return f"row {first}" if len(rows) == 1 else f"rows {first}{more}"


def equal_rows(table: Coded, secret: Secret, policy: Policy) -> Ints:
    """int64, shape (rows,): the order in which rows alike to models and search become copies."""
    columns = [*table.leaves.T, *([] if secret is None else secret.T)]
    return first_of_equals(policy, table.instance.trees, columns)


def without(table: Coded, held: NDArray[np.bool_]) -> Coded:
    """Return the table without the rows that are held back."""
    kept = np.flatnonzero(~held)
    instance, trees = table.instance, table.instance.trees
    rest, copy_of_row = from_codes(table.leaves[kept], trees, None, instance.scale)
    return table.rest(kept, rest, copy_of_row)
